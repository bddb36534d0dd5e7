/** The workers of the sandbox: those whose timesheets it generated, and those that were created since. */
import { namedRng, type Rng } from '../../lib/rng.ts'
import { iso, objectId, type Ref, reference } from '../data/identity.ts'
import { shortId } from '../short-id.ts'
import type { World } from '../world.ts'
import type { FileStore } from './file-store.ts'
import { inventedWorker } from './invented-worker.ts'
import { isMatch, isSame } from './matching.ts'
import type { Person, Worker } from './worker.ts'

export class WorkerBook {
  readonly #world: World
  readonly #seed: number
  readonly #files: FileStore
  readonly #rng: Rng
  readonly #workers = new Map<string, Worker>()
  #isFilled = false

  constructor(world: World, seed: number, files: FileStore) {
    this.#world = world
    this.#seed = seed
    this.#files = files
    this.#rng = namedRng(seed, 'written workers')
  }

  all(): Iterable<Worker> {
    return this.#filled().values()
  }

  /** By id or short id, if the agency represents the worker. */
  find(id: string, agency: string): Worker | undefined {
    const workers = this.#filled()
    const found = workers.get(id) ?? [...workers.values()].find(worker => shortId(worker.id) === id)
    return found?.agencies.has(agency) ? found : undefined
  }

  hasMatch(person: Person): boolean {
    return [...this.#filled().values()].some(worker => isMatch(worker.person, person))
  }

  /** The first of the four unique fields that another worker has. */
  conflict(worker: Worker, agency: string): string | undefined {
    const { person, agencies } = worker
    const agencyId = agencies.get(agency)?.agencyId
    for (const other of this.#filled().values()) {
      if (other.id === worker.id) continue
      for (const field of ['nationalIns', 'passportNo', 'email'] as const) {
        if (isSame(other.person[field], person[field])) return field
      }
      if (isSame(other.agencies.get(agency)?.agencyId, agencyId)) return 'agencyId'
    }
    return undefined
  }

  save(worker: Worker): void {
    this.#filled().set(worker.id, worker)
  }

  newId(nowMs: number): string {
    return objectId(this.#rng, nowMs)
  }

  newReference(): string {
    return reference('WRK', this.#filled().size + 1)
  }

  /** On first use: nobody who only reads waits for it. */
  #filled(): Map<string, Worker> {
    if (this.#isFilled) return this.#workers
    this.#isFilled = true
    const agencies = new Map<string, Set<string>>()
    const workers = new Map<string, Ref>()
    for (const record of this.#world.all('timesheets')) {
      const { worker, agency } = record as { worker?: Ref; agency?: Ref }
      if (!worker || !agency) continue
      workers.set(worker.id, worker)
      agencies.set(worker.id, (agencies.get(worker.id) ?? new Set()).add(agency.id))
    }
    const scan = this.#files.keep(Buffer.from('%PDF-1.4\n%%EOF\n'), 'application/pdf')
    let number = 0
    for (const worker of workers.values()) {
      number += 1
      const invented = inventedWorker(worker, {
        rng: namedRng(this.#seed, `worker ${worker.id}`),
        number,
        scan,
        agencies: [...(agencies.get(worker.id) ?? [])],
        createdAt: createdAt(worker.id),
      })
      this.#workers.set(invented.id, invented)
    }
    return this.#workers
  }
}

/** The first eight digits of an id are the second it was made in; ids of another form were made when nobody knows. */
function createdAt(id: string): string {
  return /^[0-9a-f]{24}$/.test(id)
    ? iso(Number.parseInt(id.slice(0, 8), 16) * 1000)
    : '2025-01-06T09:00:00.000Z'
}
