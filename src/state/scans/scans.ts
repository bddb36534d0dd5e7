/** Stores scans: each reads a list or a part of it, and has its progress and its proof. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger, numberOf, onlyRow } from '../ledger.ts'
import { runningRuns } from '../runs/runs.ts'
import type { ScanRow } from './tables.ts'

type NewScan = Pick<ScanRow, 'scan_id' | 'resource' | 'kind' | 'run_id' | 'started_at'> & Partial<ScanRow>

/** A scan that has read nothing yet, unless the facts say otherwise. */
export const freshScan = (facts: NewScan): ScanRow => ({
  sweep_id: null,
  from_day: null,
  to_day: null,
  scope: null,
  state: 'scanning',
  attempt: 1,
  pass: 1,
  page_size: null,
  next_page: 1,
  loaded_sequence: 0,
  pages: 0,
  first_total: 0,
  last_total: 0,
  expected_ids: 0,
  distinct_ids: 0,
  first_watermark: null,
  accepted_at: null,
  service_started_at: null,
  service_accepted_at: null,
  ...facts,
})

export const openScan = (engine: Engine, row: ScanRow): Promise<void> => openScans(engine, [row])

/** Inserts all in one statement: one each would take longer than reading a small scope. */
export async function openScans(engine: Engine, rows: readonly ScanRow[]): Promise<void> {
  if (rows.length > 0) await ledger(engine).insertInto('ops.scan').values(rows).execute()
}

/** Deletes scans that were opened but sent no request. */
export async function forgetScans(engine: Engine, scanIds: readonly string[]): Promise<void> {
  if (scanIds.length === 0) return
  await ledger(engine).deleteFrom('ops.scan').where('scan_id', 'in', scanIds).execute()
}

export async function readScan(engine: Engine, scanId: string): Promise<ScanRow | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('scan_id', '=', scanId)
    .execute()
  return row
}

/** How many scans a run has opened so far. */
export const countScans = (engine: Engine, runId: string): Promise<number> =>
  numberOf(engine, 'select count(*) as n from ops.scan where run_id = $1', [runId])

/** Backfill windows of a list in planned order, without days that a user had read again. */
export function backfillScans(engine: Engine, resource: string): Promise<ScanRow[]> {
  return ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '=', 'backfill')
    .where('scope', 'is', null)
    .orderBy('scan_id')
    .execute()
}

export async function updateScan(engine: Engine, scanId: string, change: Partial<ScanRow>): Promise<void> {
  await ledger(engine).updateTable('ops.scan').set(change).where('scan_id', '=', scanId).execute()
}

/** Gives up undecided scans; returns their ids. A scan accepted in the meantime stays accepted. */
export async function giveUpScans(
  engine: Engine,
  of: Pick<ScanRow, 'scan_id'> | Pick<ScanRow, 'resource' | 'kind'>,
): Promise<string[]> {
  let query = ledger(engine)
    .updateTable('ops.scan')
    .set({ state: 'refused' })
    .where('state', '=', 'scanning')
    .returning('scan_id')
  for (const [column, value] of Object.entries(of))
    query = query.where(column as 'scan_id' | 'resource' | 'kind', '=', value)
  return (await query.execute()).map(row => row.scan_id)
}

/** Scope of scans that no longer prove anything: the key could see less then than now. */
export const retiredScope = 'read when the key saw less'

/** Retires the backfill and incremental scans of a list before a new backfill. */
export async function retireScans(engine: Engine, resource: string): Promise<void> {
  await giveUpScans(engine, { resource, kind: 'backfill' })
  await giveUpScans(engine, { resource, kind: 'incremental' })
  await ledger(engine)
    .updateTable('ops.scan')
    .set({ scope: retiredScope })
    .where('resource', '=', resource)
    .where('kind', 'in', ['backfill', 'incremental'])
    .where('scope', 'is', null)
    .execute()
}

/** Scans interrupted by the end of their runs, newest first. */
export function unfinishedScans(engine: Engine, resource: string, kind: ScanRow['kind']): Promise<ScanRow[]> {
  return ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '=', kind)
    .where('state', '=', 'scanning')
    .orderBy('started_at', 'desc')
    .execute()
}

/** The scan interrupted by the end of the last run, if any. */
export async function unfinishedScan(
  engine: Engine,
  resource: string,
  kind: ScanRow['kind'],
): Promise<ScanRow | undefined> {
  return (await unfinishedScans(engine, resource, kind))[0]
}

/** The last accepted scan of changes; undefined before the first. */
async function lastChanges(engine: Engine, resource: string): Promise<ScanRow | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '=', 'incremental')
    .where('state', '=', 'accepted')
    .orderBy('accepted_at', 'desc')
    .limit(1)
    .execute()
  return row
}

/** The last total in the last accepted scan of changes; undefined before the first. */
export async function lastTotal(engine: Engine, resource: string): Promise<number | undefined> {
  const row = await lastChanges(engine, resource)
  return row && Number(row.last_total)
}

/** Total of the complete list in the last accepted scan of changes; undefined without one, or if it was filtered. */
export async function lastListTotal(engine: Engine, resource: string): Promise<number | undefined> {
  const row = await lastChanges(engine, resource)
  return row?.from_day === null ? Number(row.last_total) : undefined
}

/** Times of accepted scans by the service's clock, ISO 8601; undefined without such a scan. */
export interface WatermarkHistory {
  /** End of the first scan that found this watermark. */
  readonly seen: string | undefined
  /** Start of the last incremental scan. */
  readonly begun: string | undefined
}

export async function watermarkHistory(
  engine: Engine,
  resource: string,
  { watermark, now }: { readonly watermark: string; readonly now: string | null },
): Promise<WatermarkHistory> {
  const { seen, begun } = await onlyRow<{ seen: string | null; begun: string | null }>(
    engine,
    `select min(case when first_watermark = $2 then service_accepted_at end) as seen,
       max(case when kind = 'incremental' and service_started_at <= cast($3 as timestamptz) then service_started_at end) as begun
     from ops.scan where resource = $1 and state = 'accepted' and scope is null`,
    [resource, watermark, now],
  )
  return { seen: seen ?? undefined, begun: begun ?? undefined }
}

/** The given scans that are decided and belong to no running run, which may load pages of a scan not recorded yet. */
export async function finishedAmong(
  engine: Engine,
  scans: readonly string[],
  runs: readonly string[],
): Promise<string[]> {
  const open = await openScanIds(engine)
  const running = [...runs, ...(await runningRuns(engine))]
  return scans.filter(scan => !open.has(scan) && !running.some(run => scan.startsWith(run)))
}

/** Ids of undecided scans: their landed pages are still needed. */
export async function openScanIds(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await ledger(engine)
    .selectFrom('ops.scan')
    .select('scan_id')
    .where('state', '=', 'scanning')
    .execute()
  return new Set(rows.map(row => row.scan_id))
}
