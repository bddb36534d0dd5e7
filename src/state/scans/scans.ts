/** Scans: every reading of a list or of a part of it, with its progress and its proof. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import { numberOf, onlyRow } from '../only-row.ts'
import { runningRuns } from '../runs/runs.ts'
import type { ScanRow } from './tables.ts'

type ScanFacts = Pick<ScanRow, 'scan_id' | 'resource' | 'kind' | 'run_id' | 'started_at'> & Partial<ScanRow>

/** A scan of which nothing is read yet, unless the facts say more. */
export const freshScan = (facts: ScanFacts): ScanRow => ({
  sweep_id: null,
  from_day: null,
  to_day: null,
  scope: null,
  state: 'scanning',
  attempt: 1,
  pass: 1,
  page_size: null,
  page_limit: null,
  next_page: 1,
  loaded_sequence: 0,
  pages: 0,
  first_total: 0,
  greatest_total: 0,
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

/** A statement each would take longer than to read a small scope. */
export async function openScans(engine: Engine, rows: readonly ScanRow[]): Promise<void> {
  if (rows.length > 0) await ledger(engine).insertInto('ops.scan').values(rows).execute()
}

/** Scans that were opened, and of which nothing was asked. */
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

/** Windows of the backfill of a list in the order in which they were planned, without days that are read again on request. */
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

/** Gives up scans that are not decided; returns their ids. A scan that was accepted meanwhile stays so. */
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

/** Scope of scans that prove nothing any more: the key could see less then than it can now. */
export const retiredScope = 'read when the key saw less'

/** Retires the backfill and the incremental scans of a list, before it is read from its beginning again. */
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

/** Scans that were cut off when their runs ended, the newest first. */
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

/** The scan that was cut off when the last run ended, if any. */
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

/** The total with which the last accepted scan of changes ended; undefined before the first. */
export async function lastTotal(engine: Engine, resource: string): Promise<number | undefined> {
  const row = await lastChanges(engine, resource)
  return row && Number(row.last_total)
}

/**
 * Rows of the whole list, by the last accepted scan of changes; undefined before the first, and where that was filtered. Where
 * totals are too low, the pass that proved the scan has found more than any answer said.
 */
export async function lastWholeTotal(engine: Engine, resource: string): Promise<number | undefined> {
  const row = await lastChanges(engine, resource)
  if (!row || row.from_day !== null) return undefined
  const found = Number(row.first_total)
  return found > Number(row.greatest_total) ? found : Number(row.last_total)
}

/** Of accepted scans, by the clock of the service, ISO 8601; undefined when there is none. */
export interface WatermarkHistory {
  /** When the first scan that found this watermark ended. */
  readonly seen: string | undefined
  /** When the last incremental scan began. */
  readonly begun: string | undefined
}

export async function watermarkHistory(
  engine: Engine,
  resource: string,
  { watermark, now }: { readonly watermark: string; readonly now: string },
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

/** Of these scans those that are decided, and that no running run has landed: it may load pages of a scan not recorded yet. */
export async function finishedAmong(
  engine: Engine,
  scans: readonly string[],
  runs: readonly string[],
): Promise<string[]> {
  const open = await openScanIds(engine)
  const running = [...runs, ...(await runningRuns(engine))]
  return scans.filter(scan => !open.has(scan) && !running.some(run => scan.startsWith(run)))
}

/** Ids of the scans that are not decided: their landed pages are still needed. */
export async function openScanIds(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await ledger(engine)
    .selectFrom('ops.scan')
    .select('scan_id')
    .where('state', '=', 'scanning')
    .execute()
  return new Set(rows.map(row => row.scan_id))
}
