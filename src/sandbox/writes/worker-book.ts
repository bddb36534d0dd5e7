/** The workers of the sandbox: those that generated timesheets name, and those that were created since. */
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import { iso, type Ref, reference } from '../data/identity.ts'
import { shortId } from '../records/short-id.ts'
import type { World } from '../world.ts'
import type { Person } from './body.ts'
import { inventedWorker } from './invented-worker.ts'
import type { FileStore } from './storage.ts'
import type { Worker } from './worker.ts'

export class WorkerBook {
  readonly #world: World
  readonly #seed: number
  readonly #files: FileStore
  readonly #draw: Draw
  readonly #workers = new Map<string, Worker>()
  #isFilled = false
  #lastNumber = 0

  constructor(world: World, seed: number, files: FileStore) {
    this.#world = world
    this.#seed = seed
    this.#files = files
    this.#draw = new Draw(namedRng(seed, 'written workers'))
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
    return this.#draw.id(nowMs)
  }

  newReference(): string {
    this.#filled()
    this.#lastNumber += 1
    return reference('WRK', this.#lastNumber)
  }

  /** Filled on first use: a client that only reads does not wait for it. */
  #filled(): Map<string, Worker> {
    if (this.#isFilled) return this.#workers
    this.#isFilled = true
    const scan = this.#files.keep(Buffer.from('%PDF-1.4\n%%EOF\n'), 'application/pdf')
    for (const { ref, number, agencies } of this.#seen().values()) {
      this.#lastNumber = Math.max(this.#lastNumber, number)
      const draw = new Draw(namedRng(this.#seed, `worker ${ref.id}`))
      const circumstances = { draw, number, scan, agencies: [...agencies], createdAt: createdAt(ref.id) }
      this.#workers.set(ref.id, inventedWorker(ref, circumstances))
    }
    return this.#workers
  }

  #seen(): Map<string, Seen> {
    const seen = new Map<string, Seen>()
    for (const record of this.#world.all('timesheets')) {
      const { worker, agency, workerReference } = record as Timesheet
      if (!worker || !agency) continue
      const number = Number(/\d+$/.exec(workerReference ?? '')?.[0] ?? seen.size + 1)
      const known = seen.get(worker.id) ?? { ref: worker, number, agencies: new Set<string>() }
      known.agencies.add(agency.id)
      seen.set(worker.id, known)
    }
    return seen
  }
}

interface Timesheet {
  readonly worker?: Ref
  readonly agency?: Ref
  readonly workerReference?: string
}

interface Seen {
  readonly ref: Ref
  /** Of its reference. */
  readonly number: number
  readonly agencies: Set<string>
}

/** The first eight digits of an id are the second of its creation; ids of another form get a fixed date. */
function createdAt(id: string): string {
  return /^[0-9a-f]{24}$/.test(id)
    ? iso(Number.parseInt(id.slice(0, 8), 16) * 1000)
    : '2025-01-06T09:00:00.000Z'
}

/** The same identity number decides alone; otherwise the sum of these must reach the matching score. */
const weights = { name: 2, dob: 2, email: 3, phone: 1 }
const matchingScore = 4

/** Whether two sets of details belong to one person. */
function isMatch(known: Person, given: Person): boolean {
  if (isSame(known.nationalIns, given.nationalIns) || isSame(known.passportNo, given.passportNo)) return true
  const agreeing = {
    name: isSame(fullName(known), fullName(given)),
    dob: known.dob === given.dob,
    email: isSame(known.email, given.email),
    phone: isSame(digitsOf(known), digitsOf(given)),
  }
  const score = Object.entries(weights).reduce(
    (sum, [field, weight]) => sum + (agreeing[field as keyof typeof weights] ? weight : 0),
    0,
  )
  return score >= matchingScore
}

/** Ignores case; two absent values are not the same. */
function isSame(left: string | undefined, right: string | undefined): boolean {
  return left !== undefined && right !== undefined && left.toLowerCase() === right.toLowerCase()
}

function fullName({ firstName, lastName }: Person): string {
  return `${firstName} ${lastName}`
}

/** Without the leading zero of a national number. */
function digitsOf({ countryCode, phone }: Person): string {
  return `${countryCode} ${phone.replace(/\D/g, '').replace(/^0/, '')}`
}
