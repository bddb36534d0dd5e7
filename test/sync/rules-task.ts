/** A task of a sync whose service is a function of the test: the ledger is real, and loads are noted instead of done. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { NotFound } from '../../src/api/client/errors.ts'
import { type KeyInfo, readKey } from '../../src/api/client/key.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { ArrivedPage, LandedPage } from '../../src/landing/landing.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { FetchedPages } from '../../src/state/by-id/discovered.ts'
import { scopeIdOf } from '../../src/state/evidence/key-scopes.ts'
import { takeLease } from '../../src/state/runs/leases.ts'
import { noFigures, recordRun } from '../../src/state/runs/runs.ts'
import type { ResourceEvent, ResourceTask, SyncContext } from '../../src/sync/run/context.ts'
import { countedElsewhere } from '../../src/sync/run/event-count.ts'
import type { TaskBatch } from '../../src/sync/run/task-pipeline.ts'
import type { RulesWarehouse } from '../support/rules-warehouse.ts'
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts'

export interface Request {
  readonly path: string
  readonly query: Readonly<Record<string, string | number>>
  readonly purpose: string | undefined
  /** Absent for a record. */
  readonly page?: number
  readonly options: Readonly<Record<string, unknown>>
}

export interface ListAnswer {
  readonly total: number
  readonly records: readonly unknown[]
  readonly limit?: number
  /** What reading its records throws: the body contradicts its edges. */
  readonly failure?: Error
}

/** A rule that is altered may ask for ever. */
const maxRequests = 500

/** A record, a page of a list, or what the request throws. */
export type Service = (request: Request) => object | Error | undefined | Promise<object | Error | undefined>

export const notFound = new NotFound({ request: 'GET', status: 404 })

/** What a company key sees, as `/me` says. */
export const me = { name: 'a key', companies: [{ id: 'c1' }, { id: 'c2' }], scopes: ['read'] }
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const keyOf = (record: object): KeyInfo => readKey(record as Record<string, unknown>, bytesOf(record))

export const startOfTests = '2026-03-02T10:00:00.000Z'
export const hour = (number: number): string =>
  new Date(Date.parse(startOfTests) + number * 3_600_000).toISOString()

export interface RulesTask extends ResourceTask {
  readonly requests: Request[]
  /** Paths of the requests, with the page. */
  readonly asked: () => string[]
  readonly loads: TaskBatch[]
  readonly events: ResourceEvent[]
  /** What was done with landed pages, in order. */
  readonly landings: string[]
  readonly clock: VirtualClock
  readonly scopeId: string
}

export interface TaskParts {
  readonly key?: object
  readonly usage?: object | (() => object)
  /** Of requests of these purposes; of all where it is an error. */
  readonly refusal?: Error | ((purpose: string) => Error | undefined)
  readonly sync?: Partial<SyncContext>
  readonly pages?: readonly LandedPage[]
  /** Called with each batch before its ledger rows are written. */
  readonly load?: (batch: TaskBatch) => void
}

const cleared = [
  ...['evidence', 'deletion', 'sweep', 'scan', 'scan_id', 'scan_pass', 'watermark', 'key_scope', 'run'],
  ...[
    'out_of_sight',
    'quarantine',
    'quarantine_look',
    'unread',
    'discovered',
    'list_count',
    'lease',
    'change_signal',
  ],
]

/** Makes tasks on this warehouse, which is empty at the beginning of each test. */
export function rulesTasks(warehouse: RulesWarehouse, ...star: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'muster-task-'))
  beforeAll(() => void mkdirSync(folder, { recursive: true }))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(async () => {
    const tables = [...cleared.map(name => `ops.${name}`), ...star.map(name => `star.${name}`)]
    await warehouse.engine.transaction(async engine => {
      for (const table of tables) await engine.run(`delete from ${table}`)
    })
  })
  let files = 0

  const landed = (scanId: string, { bytes, ...facts }: ArrivedPage): LandedPage => {
    files += 1
    const file = join(folder, `${files}-${scanId}.json`)
    writeFileSync(file, bytes)
    return { ...facts, file, bytes: bytes.length }
  }

  async function task(resource: Resource, service: Service, parts: TaskParts = {}): Promise<RulesTask> {
    const { engine } = warehouse
    const clock = virtualClock(startOfTests)
    const requests: Request[] = []
    const landings: string[] = []
    const loads: TaskBatch[] = []
    const events: ResourceEvent[] = []
    const pages = new Map<string, LandedPage[]>()
    const at = (): string => new Date(clock.now()).toISOString()
    const answer = async (request: Request): Promise<object> => {
      requests.push(request)
      if (requests.length > maxRequests) throw new Error(`no rule asks the service ${maxRequests} times`)
      const given = (await service(request)) ?? (request.path === '/me' ? me : notFound)
      if (given instanceof Error) throw given
      return given
    }
    const client = {
      async getRecord(path: string, query = {}, options: Record<string, unknown> = {}) {
        const record = await answer({ path, query, options, purpose: options.purpose as string | undefined })
        return { record, bytes: bytesOf({ success: true, data: record }), fetchedAt: at() }
      },
      async getPage(
        path: string,
        query: Record<string, string | number>,
        options: Record<string, unknown> = {},
      ) {
        const [page, limit] = [Number(query.page), Number(query.limit)]
        const purpose = options.purpose as string | undefined
        const given = (await answer({ path, query, page, options, purpose })) as ListAnswer
        const records = (): unknown[] => {
          if (given.failure) throw given.failure
          return [...given.records]
        }
        const meta = { page, limit: given.limit ?? limit, total: given.total }
        const bytes = bytesOf({ success: true, data: given.records, meta })
        return { bytes, meta, empty: given.records.length === 0, records, fetchedAt: at() }
      },
      usage: () => ({
        ...{ spendable: 1000, spendableToday: 1000, perDay: 2000, leftForEvents: 1000 },
        ...{ requestsThisRun: requests.length, resetsAt: hour(14) },
        ...(typeof parts.usage === 'function' ? parts.usage() : parts.usage),
      }),
      refusal: (purpose: string) =>
        typeof parts.refusal === 'function' ? parts.refusal(purpose) : parts.refusal,
    }
    const landing = {
      async begin(scanId: string, facts: object) {
        landings.push(`begin ${scanId} ${JSON.stringify(facts)}`)
      },
      async land(scanId: string, arrived: ArrivedPage) {
        const page = landed(scanId, arrived)
        pages.set(scanId, [...(pages.get(scanId) ?? []), page])
        return page
      },
      pages: async (scanId: string) => parts.pages ?? pages.get(scanId) ?? [],
      async forget(page: LandedPage) {
        landings.push(`forget page ${page.page}`)
      },
      async discard(scanId: string) {
        landings.push(`discard ${scanId}`)
      },
    }
    const readAgain = new Set<string>()
    const pipeline = {
      async load(batch: TaskBatch) {
        loads.push(batch)
        parts.load?.(batch)
        await engine.transaction(batch.writeScan)
      },
      async drained() {},
      readAgain: {
        add(files: readonly { readonly file: string }[]) {
          const before = readAgain.size
          for (const { file } of files) readAgain.add(file)
          return readAgain.size > before
        },
      },
    }
    const key = keyOf(parts.key ?? me)
    const sync = {
      ...{ engine, client, landing, clock: { ...clock, service: clock.now }, runId: 'this', lookbackMs: 0 },
      ...{ leaseMs: 60_000, key, apiKeyId: 'id', signal: new AbortController().signal, sent: new Map() },
      ...{ emit: (event: ResourceEvent) => events.push(event), events: countedElsewhere },
      ...{ loaded: new FetchedPages() },
      ...parts.sync,
    }
    for (const table of ['ops.run', 'ops.lease']) await engine.run(`delete from ${table}`)
    const started = { arguments: '', startedAt: startOfTests, version: '1' }
    await recordRun(engine, { ...started, runId: sync.runId, command: 'sync' })
    const lease = await takeLease(engine, { resource: resource.name, holder: sync.runId, ms: 60_000 })
    const counters = { ...noFigures, note: null }
    const asked = (): string[] =>
      requests.map(({ path, page }) => (page === undefined ? path : `${path} ${page}`))
    const scopeId = scopeIdOf('id', key)
    const made = { sync, resource, plan: stagePlan(resource), lease, counters, pipeline }
    return { ...made, requests, asked, loads, events, landings, clock, scopeId } as unknown as RulesTask
  }
  return { task, landed }
}

/** A run whose key saw what the scope says. */
export async function runOfScope(
  { engine }: RulesWarehouse,
  run: string,
  { scopeId, kind = 'company' }: { readonly scopeId: string; readonly kind?: string },
): Promise<void> {
  await engine.run(
    `insert into ops.key_scope (run_id, scope_id, api_key_id, kind, companies, agencies, scopes, observed_at)
     values ('${run}', '${scopeId}', 'k', '${kind}', '[]', '[]', '[]', timestamptz '${hour(-9)}')`,
  )
}

export interface StarRow {
  readonly run?: string
  readonly loadedAt?: string
  readonly isDeleted?: boolean
  /** When it was found missing. */
  readonly deletedAt?: string
  readonly columns?: Readonly<Record<string, string>>
}

/** Rows of star with these ids, as a load would have left them. */
export async function starRows(
  { engine }: RulesWarehouse,
  { resource, ids }: { readonly resource: Resource; readonly ids: readonly string[] },
  { run = 'before', loadedAt = hour(-5), isDeleted = false, deletedAt, columns = {} }: StarRow = {},
): Promise<void> {
  const { table } = resource
  const names = [
    table.key,
    'run_id',
    'loaded_at',
    'is_deleted',
    'row_hash',
    'source_updated_at',
    'deleted_at',
  ]
  const inferred = table.name.startsWith('dim_') ? { is_inferred: 'false' } : {}
  const others = Object.entries({ ...inferred, ...columns })
  const times = [`timestamptz '${hour(-6)}'`, deletedAt ? `timestamptz '${deletedAt}'` : 'null']
  const row = (id: string): string =>
    [`'${id}'`, `'${run}'`, `timestamptz '${loadedAt}'`, isDeleted, `'hash'`, ...times]
      .concat(others.map(([, value]) => value))
      .join(', ')
  await engine.run(
    `insert into star.${table.name} (${[...names, ...others.map(([name]) => name)].join(', ')})
     values ${ids.map(id => `(${row(id)})`).join(', ')}`,
  )
}

export interface KnownId {
  readonly state?: 'never fetched' | 'stored' | 'missing' | 'refused'
  readonly source?: string
  readonly signals?: number
  readonly fetchedAt?: string
  readonly retryAfter?: string
  readonly reason?: string
  readonly fetches?: number
  readonly changes?: number
  readonly exposure?: number
  readonly failures?: number
}

/** Ids of a resource that is read by id. */
export async function knownIds(
  { engine }: RulesWarehouse,
  { resource, ids }: { readonly resource: string; readonly ids: readonly string[] },
  parts: KnownId = {},
): Promise<void> {
  const {
    state = 'never fetched',
    source = 'star.fact_assignment.trade_id',
    signals = 0,
    fetches = 0,
  } = parts
  const { changes = 0, exposure = 0, failures = 0 } = parts
  const time = (at: string | undefined): string => (at === undefined ? 'null' : `timestamptz '${at}'`)
  const row = (id: string): string =>
    `('${resource}', '${id}', '${source}', timestamptz '${hour(-9)}', '${state}', timestamptz '${hour(-9)}',
      ${parts.reason === undefined ? 'null' : `'${parts.reason}'`}, ${time(parts.fetchedAt)}, ${time(parts.retryAfter)},
      ${fetches}, ${failures}, ${changes}, ${exposure}, ${signals}, ${signals > 0 ? time(hour(-1)) : 'null'})`
  await engine.run(
    `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason, last_fetched_at,
       retry_after, fetches, failed_fetches, changes, exposure_days, signals, signalled_at)
     values ${ids.map(row).join(', ')}`,
  )
}
