/** A list of sites in memory, answered as the service would, and the task that reads it into the warehouse of the file. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import type { Client, FetchedPage } from '../../../src/api/client/client.ts'
import type { Resource, Scan } from '../../../src/contract/fields/resource.ts'
import type { LandedPage } from '../../../src/landing/landing.ts'
import { utcDay } from '../../../src/lib/dates.ts'
import { ServiceClock } from '../../../src/lib/service-clock.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { FetchedPages } from '../../../src/state/by-id/discovered.ts'
import { takeLease } from '../../../src/state/runs/leases.ts'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { freshScan, openScan, readScan } from '../../../src/state/scans/scans.ts'
import type { ScanIdRow, ScanRow, WatermarkRow } from '../../../src/state/scans/tables.ts'
import { moveWatermark, readWatermark } from '../../../src/state/scans/watermarks.ts'
import type { ResourceEvent, ResourceTask, SyncContext } from '../../../src/sync/run/context.ts'
import { countedElsewhere } from '../../../src/sync/run/event-count.ts'
import type { LoadedScanJob } from '../../../src/sync/scan/loaded-scan.ts'
import { type RulesWarehouse, resourceOf } from '../../support/rules-warehouse.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

export interface Site {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly name?: string
}

export type Query = Readonly<Record<string, string | number | undefined>>
export interface Answered {
  readonly rows: readonly object[]
  readonly total: number
  readonly limit?: number
}

/** Of 2026; minutes after the first instant of the day. */
export const time = (day: string, minute = 0): string =>
  new Date(Date.parse(`2026-${day}T00:00:00Z`) + minute * 60_000).toISOString()

/** Sites created and changed a minute after each other on one day. */
export const sites = (count: number, day = '01-10', prefix = 's'): Site[] =>
  Array.from({ length: count }, (_, index) => {
    const at = time(day, index)
    return { id: `${prefix}${String(index).padStart(4, '0')}`, createdAt: at, updatedAt: at, name: 'site' }
  })

export class List {
  records: Site[]
  readonly requests: Query[] = []
  readonly options: unknown[] = []
  /** How many answers, from the first on, have records that are no JSON. */
  broken = 0
  /** Takes the place of an answer. */
  instead: (query: Query, honest: () => Answered, number: number) => Answered = (_, honest) => honest()

  constructor(records: readonly Site[] = []) {
    this.records = [...records]
  }

  #honest(query: Query): Answered {
    const { page = 1, limit = 200, sortBy = 'updatedAt', sortOrder = 'asc', from, to, dateField } = query
    const field = dateField === 'updatedAt' ? 'updatedAt' : 'createdAt'
    const key = sortBy as 'updatedAt' | 'createdAt'
    const found = this.records
      .filter(one => from === undefined || utcDay(one[field]) >= String(from))
      .filter(one => to === undefined || utcDay(one[field]) <= String(to))
      .sort((a, b) => (a[key] === b[key] ? (a.id < b.id ? -1 : 1) : a[key] < b[key] ? -1 : 1))
    if (sortOrder === 'desc') found.reverse()
    const start = (Number(page) - 1) * Number(limit)
    return { rows: found.slice(start, start + Number(limit)), total: found.length }
  }

  answer(query: Query, options?: unknown): FetchedPage {
    this.requests.push(query)
    this.options.push(options)
    const isBroken = this.requests.length <= this.broken
    const { rows, total, limit } = this.instead(query, () => this.#honest(query), this.requests.length)
    const meta = { page: Number(query.page ?? 1), limit: limit ?? Number(query.limit ?? 200), total }
    const bytes = Buffer.from(JSON.stringify({ success: true, data: rows, meta }))
    const records = () => {
      if (isBroken) throw new SyntaxError('no JSON')
      return JSON.parse(bytes.toString()).data as unknown[]
    }
    return { bytes, meta, empty: rows.length === 0, records, fetchedAt: time('06-01') }
  }

  /** The pages asked for, as `sort page limit` with the days. */
  get asked(): string[] {
    return this.requests.map(({ sortBy, page, limit, from, to }) =>
      [sortBy ?? '', page, limit, ...(from ? [`from ${from}`] : []), ...(to ? [`to ${to}`] : [])]
        .join(' ')
        .trim(),
    )
  }
}

interface Batch {
  readonly pages: readonly (LandedPage & { readonly pass: number; readonly isFront: boolean })[]
  readonly scan?: { readonly scanId: string; readonly isFiltered: boolean }
  readonly writeScan: (engine: SyncContext['engine']) => Promise<void>
}

const placeOf = ({ file, page }: { readonly file: string; readonly page?: number }): string =>
  `${dirname(file)} ${page}`

/** Notes which ids a batch has, for the proof, and writes its ledger rows. Its records are not loaded. */
export class MemoryPipeline {
  readonly #sync: SyncContext
  readonly batchesLoaded: Batch[] = []
  /** Records of batches that were taken for loaded. */
  nothingNew: number[] = []
  readonly #again = new Set<string>()
  #failure: unknown
  /** What loading a batch throws; it is thrown when the pipeline is drained. */
  fails: (batch: Batch, number: number) => unknown = () => undefined

  constructor(sync: SyncContext) {
    this.#sync = sync
  }

  readonly readAgain = {
    add: (pages: readonly { readonly file: string; readonly page?: number }[]): boolean => {
      const before = this.#again.size
      for (const page of pages) this.#again.add(placeOf(page))
      return this.#again.size > before
    },
    has: (page: LandedPage): boolean => this.#again.has(placeOf(page)),
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  async load(batch: Batch): Promise<void> {
    this.batchesLoaded.push(batch)
    this.#failure ??= this.fails(batch, this.batchesLoaded.length)
    if (this.#failure !== undefined) return
    await this.#sync.engine.transaction(async engine => {
      await addIds(engine, batch.scan ? batch.pages.flatMap(page => idsOn(page, batch)) : [])
      await batch.writeScan(engine)
    })
  }

  async loadNothing(
    records: number,
    writeScan: (engine: SyncContext['engine']) => Promise<boolean>,
  ): Promise<boolean> {
    const isWritten = await this.#sync.engine.transaction(writeScan)
    if (isWritten) this.nothingNew.push(records)
    return isWritten
  }

  async drained(): Promise<void> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }
}

function idsOn({ file, pass, isFront }: Batch['pages'][number], { scan }: Batch): ScanIdRow[] {
  const { data } = JSON.parse(readFileSync(file, 'utf8')) as { data: Site[] }
  return data.map(({ id, createdAt, updatedAt }) => {
    const [created, changed] = [Date.parse(createdAt), Date.parse(updatedAt)]
    return {
      ...{ scan_id: scan?.scanId ?? '', record_id: id, first_pass: pass, last_pass: pass },
      ...{ front_pass: isFront ? pass : null, changed_at: changed, created_at: null, updated_at: null },
      existed_at: scan?.isFiltered ? changed : Math.min(created, changed),
    }
  })
}

export interface Reading {
  readonly task: ResourceTask
  readonly list: List
  readonly events: ResourceEvent[]
  readonly landed: Map<string, LandedPage[]>
  /** What was said of each scan before its pages were landed. */
  readonly begun: Map<string, object>
  readonly clock: ReturnType<typeof virtualClock>
  readonly pipeline: MemoryPipeline
  watermark(): Promise<WatermarkRow | undefined>
  setWatermark(change: Partial<WatermarkRow>): Promise<void>
  scans(): Promise<ScanRow[]>
  openScan(row: Partial<ScanRow> & Pick<ScanRow, 'scan_id'>): Promise<ScanRow>
  /** Stores records as an earlier run did. */
  store(records: readonly Site[]): Promise<void>
  /** Lands an answer as an earlier run did. */
  land(scanId: string, page: number, sequence: number): Promise<void>
}

interface Parts {
  readonly list?: List
  readonly read?: Partial<Scan>
  readonly runId?: string
  readonly most?: number
  readonly hidden?: number
  readonly now?: string
  readonly lookbackMs?: number
}

const tables = [
  ...['scan', 'scan_id', 'scan_pass', 'watermark', 'unread', 'lease'],
  ...['quarantine', 'quarantine_look', 'evidence', 'deletion', 'key_scope'],
].map(name => `ops.${name}`)

/** To be called once a file: what it returns begins a reading of an empty warehouse. */
export function readings(warehouse: RulesWarehouse) {
  const folder = mkdtempSync(join(tmpdir(), 'muster-reading-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let readingsSoFar = 0

  return async function begin(parts: Parts = {}): Promise<Reading> {
    const { engine } = warehouse
    await engine.transaction(async inside => {
      for (const name of [...tables, 'star.dim_site']) await inside.run(`delete from ${name}`)
    })
    readingsSoFar += 1
    return reading(warehouse, join(folder, String(readingsSoFar)), parts)
  }
}

async function reading(warehouse: RulesWarehouse, folder: string, parts: Parts): Promise<Reading> {
  const { engine } = warehouse
  const { list = new List(), runId = 'run-2', read = {}, now = time('06-01'), lookbackMs = 900_000 } = parts
  const sitesResource = resourceOf('sites')
  const resource: Resource = { ...sitesResource, read: { strategy: 'scan', ...read } }
  const clock = virtualClock(now)
  const landed = new Map<string, LandedPage[]>()
  const begun = new Map<string, object>()
  const events: ResourceEvent[] = []
  const landing = {
    begin: async (scanId: string, facts: object) => {
      mkdirSync(join(folder, scanId), { recursive: true })
      begun.set(scanId, facts)
      if (!landed.has(scanId)) landed.set(scanId, [])
    },
    land: async (
      scanId: string,
      { bytes, ...facts }: { bytes: Buffer } & Omit<LandedPage, 'file' | 'bytes'>,
    ) => {
      const file = join(folder, scanId, `${facts.sequence}.json`)
      writeFileSync(file, bytes)
      const page: LandedPage = { ...facts, file, bytes: bytes.length }
      landed.get(scanId)?.push(page)
      return page
    },
    pages: async (scanId: string) => [...(landed.get(scanId) ?? [])],
    has: async (scanId: string) => landed.has(scanId),
    forget: async (page: LandedPage) => {
      for (const pages of landed.values())
        for (const [index, one] of pages.entries()) if (one.file === page.file) pages.splice(index, 1)
    },
  }
  const client = {
    getPage: async (_: string, query: Query, options?: unknown) => list.answer(query, options),
  }
  const counters = {
    ...{
      requests: 0,
      records_read: 0,
      rows_inserted: 0,
      rows_changed: 0,
      records_touched: 0,
      rows_removed: 0,
    },
    ...{ records_unchanged: 0, quarantined: 0, note: null },
  } as unknown as ResourceTask['counters']
  const sync = {
    ...{
      engine,
      runId,
      lookbackMs,
      leaseMs: 60_000,
      apiKeyId: 'key',
      sent: new Map(),
      loaded: new FetchedPages(),
    },
    ...{
      events: countedElsewhere,
      signal: new AbortController().signal,
      client: client as unknown as Client,
    },
    ...{ landing: landing as unknown as SyncContext['landing'], clock: new ServiceClock(clock) },
    ...{ key: { kind: 'company', companies: [], agencies: [] } as unknown as SyncContext['key'] },
    ...(parts.most !== undefined && { maxDeletions: parts.most }),
    ...(parts.hidden !== undefined && { hidden: parts.hidden }),
    emit: (event: ResourceEvent) => void events.push(event),
  } as SyncContext
  const lease = await takeLease(engine, { resource: resource.name, holder: runId, ms: 60_000 })
  const plan = stagePlan(sitesResource)
  const pipeline = new MemoryPipeline(sync)
  const task: ResourceTask = {
    ...{ sync, resource, plan, lease, counters },
    pipeline: pipeline as unknown as ResourceTask['pipeline'],
  }
  return {
    ...{ task, list, events, landed, begun, clock, pipeline },
    watermark: () => readWatermark(engine, resource.name),
    setWatermark: change =>
      moveWatermark(engine, resource.name, { run_id: 'run-1', moved_at: time('05-01'), ...change }),
    scans: () =>
      warehouse.rows('select * from ops.scan order by scan_id') as Promise<unknown> as Promise<ScanRow[]>,
    openScan: async row => {
      const facts = {
        resource: resource.name,
        kind: 'backfill',
        run_id: 'run-1',
        started_at: time('05-01'),
      } as const
      await openScan(engine, freshScan({ ...facts, ...row }))
      return (await readScan(engine, row.scan_id)) as ScanRow
    },
    store: async records => {
      const rows = records.map(
        ({ id, createdAt, updatedAt }) =>
          `('${id}', '${createdAt}', '${updatedAt}', false, false, 'hash', '${time('05-01')}', 'run-1')`,
      )
      if (rows.length === 0) return
      await engine.run(
        `insert into star.dim_site (site_id, created_at, source_updated_at, is_deleted, is_inferred, row_hash, loaded_at, run_id)
         values ${rows.join(', ')}`,
      )
    },
    land: async (scanId, page, sequence) => {
      const { bytes } = list.answer({ page, limit: 200, sortBy: 'updatedAt', sortOrder: 'asc' })
      list.requests.pop()
      await landing.begin(scanId, {})
      await landing.land(scanId, { sequence, page, fetchedAt: time('05-31'), runId: 'run-1', bytes } as never)
    },
  }
}

/** A scan of the list by change, from page 1 on unless other parts are given. */
export async function jobOf(
  reading: Reading,
  parts: Partial<LoadedScanJob> = {},
  row: Parameters<Reading['openScan']>[0] = { scan_id: 's' },
) {
  const job: LoadedScanJob = {
    row: await reading.openScan(row),
    query: { sortBy: 'updatedAt', sortOrder: 'asc' },
    beginAt: 1,
    ...parts,
  }
  return { job }
}

/** The ledger row of the first scan. */
export const firstScan = async (reading: Reading): Promise<ScanRow | undefined> => (await reading.scans())[0]
