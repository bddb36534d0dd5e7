/** A warehouse for each test on each engine, one sync into it, and its content as comparable rows. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { migrate } from '../../src/state/migrate.ts'
import { ledgerTables } from '../../src/state/tables.ts'
import { type RunEffects, type RunRequest, type RunResult, runSync } from '../../src/sync/run/run.ts'
import type { RunConnection } from '../../src/sync/run/run-connection.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { physicalTables } from '../../src/warehouse/schema/physical.ts'
import { withServiceAt } from '../sandbox/open-sandbox.ts'
import { guardedEngine } from './guarded-engine.ts'
import { thorough } from './long-suite.ts'
import { database } from './postgres-database.ts'
import { madeOnce } from './shared-file.ts'
import { throwAway } from './throwaway-file.ts'

export interface Warehouse {
  readonly engine: Engine
  /** Where a second process finds it: the value of MUSTER_WAREHOUSE. */
  readonly address: string
  readonly landing: string
  /** Lets another process write; `open` takes it back. */
  close(): Promise<void>
  open(): Promise<void>
}

/** One kind of engine: hands out empty, migrated warehouses, and takes them back when the test ends. */
export interface Bench {
  readonly name: Engine['kind']
  warehouse(): Promise<Warehouse>
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Names the structure of an empty warehouse. */
export function structureName(): string {
  const makers = [
    'state/migrate.ts',
    'warehouse/schema/seed.ts',
    'warehouse/schema/structure.ts',
    'warehouse/schema/references.ts',
    'warehouse/duckdb/open.ts',
  ].map(file => join('src', file))
  const sql = ['seed', 'view'].flatMap(folder =>
    readdirSync(join(root, 'sql', folder)).map(file => join('sql', folder, file)),
  )
  const hash = createHash('sha256').update(JSON.stringify([physicalTables, ledgerTables]))
  for (const file of [...makers, ...sql.sort()]) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/** Migrated once per structure, then copied: a sync checks the structure again and finds nothing to do. */
export async function templateFile(): Promise<string> {
  const file = join(tmpdir(), `muster-template-${structureName()}.duckdb`)
  await madeOnce(file, async () => {
    const fresh = join(mkdtempSync(join(tmpdir(), 'muster-template-')), 'new.duckdb')
    const engine = await openDuckdb(fresh)
    await migrate(engine, new Date().toISOString())
    await engine.run('checkpoint')
    await engine.close()
    renameSync(fresh, file)
  })
  return file
}

async function duckdbWarehouse(folder: string): Promise<Made> {
  const file = join(folder, 'test.duckdb')
  copyFileSync(await templateFile(), file)
  let engine: Engine | undefined = guardedEngine(await openDuckdb(file))
  return {
    get engine() {
      if (!engine) throw new Error('the warehouse is closed')
      return engine
    },
    address: `duckdb:${file}`,
    landing: join(folder, 'test.landing'),
    async close() {
      await engine?.close()
      engine = undefined
    },
    async open() {
      engine ??= guardedEngine(await openDuckdb(file))
    },
    remove: () => throwAway(engine),
  }
}

async function postgresWarehouse(folder: string): Promise<Made> {
  const { url, drop } = await database(structureName())
  const landing = join(folder, 'test.landing')
  const begin = async (): Promise<Engine> =>
    guardedEngine(await openPostgres({ url, shown: 'the test database' }, { scratch: `${landing}.tmp` }))
  let engine: Engine | undefined = await begin()
  return {
    get engine() {
      if (!engine) throw new Error('the warehouse is closed')
      return engine
    },
    address: url,
    landing,
    async close() {
      await engine?.close()
      engine = undefined
    },
    async open() {
      engine ??= await begin()
    },
    async remove() {
      await engine?.close()
      await drop()
    },
  }
}

type Made = Warehouse & { remove(): Promise<void> }

const makers: Readonly<Record<Engine['kind'], (folder: string) => Promise<Made>>> = {
  duckdb: duckdbWarehouse,
  postgres: postgresWarehouse,
}

/** Engines that every warehouse test runs on. Trials of altered SQL start no server, and say so. */
const engines: readonly Engine['kind'][] = process.env.MUSTER_TEST_WITHOUT_POSTGRES
  ? ['duckdb']
  : ['duckdb', 'postgres']

/** Hands out warehouses of each engine; every one is closed and removed when its test ends. */
export function useEngines(): Readonly<Record<Engine['kind'], () => Promise<Warehouse>>> {
  const open: { warehouse: Made; folder: string }[] = []
  afterEach(async () => {
    for (const { warehouse, folder } of open.splice(0)) {
      await warehouse.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })
  const make = async (engine: Engine['kind']): Promise<Warehouse> => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-test-'))
    const warehouse = await makers[engine](folder)
    open.push({ warehouse, folder })
    return warehouse
  }
  return { duckdb: () => make('duckdb'), postgres: () => make('postgres') }
}

/**
 * On every engine in the long suite; the quick one runs `quickOn`. What crosses to PostgreSQL is shown there by the tests
 * of parity, merging, marts and the server itself, and by what asks for `all`.
 */
export function describeOnEngines(
  name: string,
  body: (bench: Bench) => void,
  quickOn: Engine['kind'] | 'all' = 'duckdb',
): void {
  const chosen = quickOn === 'all' || thorough ? engines : [quickOn]
  for (const engine of chosen) {
    describe(`${name} (${engine})`, () => {
      const made = useEngines()
      body({ name: engine, warehouse: made[engine] })
    })
  }
}

export interface Overrides {
  readonly connection?: Partial<RunConnection>
  readonly request?: Partial<RunRequest>
  readonly effects?: Partial<RunEffects>
}

/** One run in this process; waits between repetitions are cut to nothing. */
export function syncOnce(
  source: { readonly url: string },
  warehouse: Warehouse,
  { connection, request, effects }: Overrides = {},
): Promise<RunResult> {
  const clock = effects?.clock ?? systemClock
  const run = (): Promise<RunResult> =>
    runSync(
      {
        baseUrl: source.url,
        apiKey: sandboxKeys.company,
        landing: warehouse.landing,
        retentionDays: 30,
        lookbackMinutes: 15,
        pageCapBytes: 64 * 1_048_576,
        ...connection,
      },
      {
        ...{ command: 'sync', resources: [], limits: {} },
        arguments: (request?.resources ?? []).join(' '),
        ...request,
      },
      {
        engine: warehouse.engine,
        clock,
        rng: () => 0,
        signal: new AbortController().signal,
        version: 'test',
        emit: () => undefined,
        onBudget: () => undefined,
        ...effects,
      },
    )
  return withServiceAt(clock, run)
}

/** How many rows a run inserted, changed or removed. */
export function rowsTouched({ resources }: RunResult): number {
  return resources.reduce((sum, one) => sum + one.rows_inserted + one.rows_changed + one.rows_removed, 0)
}
