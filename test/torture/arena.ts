/** One engine, one resting service, and warehouses to mistreat: each trial gets a copy, and ends with the same rows. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Rng, seededRng } from '../../src/lib/rng.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import type { Interception } from '../fault-layer/layer.ts'
import { type FaultySandbox, startFaultySandbox } from '../fault-layer/start.ts'
import { shiftedClock } from '../support/clock-shift.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { type Dump, ofTheRun, tables } from '../support/warehouse-dump.ts'
import { nameOf } from './commands.ts'
import { changedOf, ids, recordsOf, unchangedWorker } from './named.ts'
import { complaint, type Ended, type Running, type Surroundings, start } from './program.ts'

/** Where warehouses of an engine lie. */
interface Disks {
  /** An empty one, or a copy of another. */
  make(folder: string, from?: Place): Promise<string>
  open(place: Place): Promise<Engine>
  remove(place: Place): Promise<void>
  close(): Promise<void>
}

const duckdb: Disks = {
  async make(folder, from) {
    const file = join(folder, 'w.duckdb')
    if (from) cpSync(join(from.folder, 'w.duckdb'), file)
    return `duckdb:${file}`
  },
  open: ({ folder }) => openDuckdb(join(folder, 'w.duckdb'), { readOnly: true }),
  remove: async () => undefined,
  close: async () => undefined,
}

async function postgres(): Promise<Disks> {
  const { url: server, stop } = await startPostgres(['fsync=off', 'max_connections=100'])
  let made = 0
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: `${server}/postgres` })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  const databaseOf = (address: string): string => address.split('/').at(-1) ?? ''
  return {
    async make(_, from) {
      made += 1
      await run(`create database w_${made} template ${from ? databaseOf(from.address) : 'template0'}`)
      return `${server}/w_${made}`
    },
    open: ({ address, folder }) =>
      openPostgres({ url: address, shown: 'w' }, { scratch: join(folder, 'scratch') }),
    remove: ({ address }) => run(`drop database ${databaseOf(address)} with (force)`),
    close: stop,
  }
}

export interface Place extends Surroundings {
  readonly folder: string
  readonly address: string
  readonly landing: string
  /** Began without rows. */
  readonly isNew: boolean
  /** A worker of whom nothing changes, for the one who is to be forgotten. */
  readonly person: string
}

/** What has no time of its own was valid until the run that saw it changed. */
const ofTheMoment = new Set([...ofTheRun, 'valid_from', 'valid_to'])

type Intercept = (request: SandboxRequest) => Interception

export class Arena {
  readonly engine: Engine['kind']
  readonly sandbox: FaultySandbox
  readonly #root: string
  readonly #disks: Disks
  readonly #answers: { intercept: Intercept | undefined }
  #base: Place | undefined
  readonly #expected = new Map<string, Dump>()
  /** Where a person was to be forgotten, whatever came of it. */
  readonly #forgetting = new WeakSet<Place>()
  #person = ''
  #clockOf: () => Readonly<Record<string, string>> = () => ({})
  #ids: readonly string[] = []
  /** By command: milliseconds that it takes undisturbed, as far as it was seen. */
  readonly #defaultMs = new Map<string, number>()

  private constructor(
    engine: Engine['kind'],
    root: string,
    at: { sandbox: FaultySandbox; disks: Disks; answers: { intercept: Intercept | undefined } },
  ) {
    this.engine = engine
    this.#root = root
    this.sandbox = at.sandbox
    this.#disks = at.disks
    this.#answers = at.answers
  }

  static async open(engine: Engine['kind'], root: string): Promise<Arena> {
    const answers: { intercept: Intercept | undefined } = { intercept: undefined }
    const sandbox = await startFaultySandbox({
      records: generateRecords({ seed: 5, scale: 0.02, today: '2026-11-02' }),
      rateLimitPerMinute: 100_000,
      rateLimitPerDay: 10_000_000,
      intercept: request => answers.intercept?.(request),
    })
    const disks = engine === 'duckdb' ? duckdb : await postgres()
    const arena = new Arena(engine, mkdtempSync(join(root, `${engine}-`)), { sandbox, disks, answers })
    await arena.#prepare()
    return arena
  }

  /** A warehouse that was synced once, then the source changed: what a sync makes of it is what every trial must end with. */
  async #prepare(): Promise<void> {
    const base = await this.#place()
    await this.must(base, 'sync --quiet')
    await this.must(base, 'build --quiet')
    if (this.engine === 'duckdb') await this.must(base, 'publish')
    this.#base = base
    const { world } = this.sandbox
    const before = recordsOf(world)
    mutateWorld(world, { rng: seededRng(7), nowMs: Date.UTC(2026, 10, 3), count: 80 })
    const dump = await this.dump(base)
    const changed = changedOf(before, recordsOf(world))
    this.#person = unchangedWorker(dump, changed)
    // A sync leaves a changed requisition as it is until its turn comes: only what reads by id would see it.
    this.#ids = ids(dump['star.fact_requisition'] ?? [], 'requisition_id').filter(id => !changed.includes(id))
    for (const isNew of [true, false]) await this.#expectedOf(isNew, false)
  }

  /** Rows of a warehouse that nobody disturbed. */
  async #expectedOf(isNew: boolean, isForgotten: boolean): Promise<Dump> {
    const key = `${isNew} ${isForgotten}`
    const known = this.#expected.get(key)
    if (known) return known
    const undisturbed = await (isNew ? this.empty() : this.fresh())
    this.learn(await this.must(undisturbed, 'sync --quiet'))
    if (isForgotten) await this.must(undisturbed, `forget worker ${this.#person} --yes`)
    const dump = await this.dump(undisturbed)
    this.#expected.set(key, dump)
    await this.remove(undisturbed)
    return dump
  }

  async #place(from?: Place): Promise<Place> {
    const folder = mkdtempSync(join(this.#root, 'place-'))
    const landing = join(folder, 'landing')
    if (from && existsSync(from.landing)) cpSync(from.landing, landing, { recursive: true })
    const address = await this.#disks.make(folder, from)
    const cwd = join(folder, 'cwd')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'outcomes.json'), '{"tasks": [{"task": "sync", "exitCode": 0}]}')
    writeFileSync(join(cwd, 'ids.txt'), this.#ids.slice(0, 5).join('\n'))
    const env = {
      MUSTER_BASE_URL: this.sandbox.url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: address,
      MUSTER_LANDING: landing,
      MUSTER_WEBHOOK_SECRET: 'whsec_for_torture_only_0123456789',
    }
    return { folder, address, landing, cwd, env, isNew: !from, person: this.#person }
  }

  /** The source has changed since its one sync. */
  fresh(): Promise<Place> {
    return this.#place(this.#base)
  }

  empty(): Promise<Place> {
    return this.#place()
  }

  run(place: Place, words: string | readonly string[]): Promise<Ended> {
    return this.start(place, words).ended
  }

  start(place: Place, words: string | readonly string[]): Running {
    if (words.includes('forget ')) this.#forgetting.add(place)
    const env = this.#clockOf()
    return start(words, { ...place, env: { ...place.env, ...env } })
  }

  /** From now on each command finds the clock of its machine wrong by one of these shifts, and a third of them see it set. */
  drawClocks(shifts: readonly number[], rng: Rng): void {
    const drawn = (): number => shifts[Math.floor(rng() * shifts.length)] ?? 0
    this.#clockOf = () => {
      if (shifts.length === 0) return {}
      const shift = drawn()
      return rng() < 1 / 3
        ? shiftedClock(shift, { to: drawn(), afterMs: rng() * 3_000 })
        : shiftedClock(shift)
    }
  }

  /** Throws when it does not end with 0. */
  async must(place: Place, words: string): Promise<Ended> {
    const ended = await this.run(place, words)
    const wrong = complaint(ended, [0])
    if (wrong !== undefined) throw new Error(wrong)
    return ended
  }

  async dump(place: Place): Promise<Dump> {
    const engine = await this.#disks.open(place)
    try {
      return await tables(engine, undefined, ofTheMoment)
    } finally {
      await engine.close()
    }
  }

  /** Milliseconds of this command by itself, to draw moments from. */
  defaultMs(words: string): number {
    return this.#defaultMs.get(nameOf(words)) ?? 2_000
  }

  /** One that was killed would have taken longer than it did. */
  learn({ words, code, ms }: Ended): void {
    const usual = this.defaultMs(words)
    this.#defaultMs.set(nameOf(words), code === null ? Math.max(usual, ms) : (usual + ms) / 2)
  }

  /**
   * After one more sync the rows are those of an undisturbed warehouse, and nothing of anybody's work is left over. Versions
   * that a lost page held are in no later answer: `history` is left out where a loss was told.
   */
  async complaintAtRest(place: Place, { history = true } = {}): Promise<string | undefined> {
    const isForgotten = this.#forgetting.has(place)
    const forget = `forget worker ${place.person} --yes`
    // A person who was never loaded cannot be forgotten: the sync before brings all.
    const last = isForgotten ? ['sync --quiet', forget, 'sync --quiet'] : ['sync --quiet']
    for (const words of isForgotten && !place.isNew ? last.slice(1) : last) {
      const wrong = complaint(await this.run(place, words), [0])
      if (wrong !== undefined) return `at rest: ${wrong}`
    }
    const broken = this.sandbox.violations().map(({ kind }) => kind)
    if (broken.length > 0) return `requests that break the contract: ${broken.join(', ')}`
    const dump = await this.dump(place)
    const expected = await this.#expectedOf(place.isNew, isForgotten)
    const differing = [...new Set([...Object.keys(dump), ...Object.keys(expected)])].filter(
      name =>
        JSON.stringify(dump[name]) !== JSON.stringify(expected[name]) &&
        (history || !name.includes('history')),
    )
    if (differing.length > 0) return `rows differ: ${differing.join(', ')}`
    const left = readdirSync(place.folder).filter(name => name.startsWith('.muster-'))
    return left.length > 0 ? `left over: ${left.join(', ')}` : undefined
  }

  /** Answers in place of the service's, until called with nothing. */
  intercept(intercept?: Intercept): void {
    this.#answers.intercept = intercept
  }

  async remove(place: Place): Promise<void> {
    await this.#disks.remove(place)
    rmSync(place.folder, { recursive: true, force: true })
  }

  async close(): Promise<void> {
    if (this.#base) await this.remove(this.#base)
    await this.#disks.close()
    await this.sandbox.close()
  }
}
