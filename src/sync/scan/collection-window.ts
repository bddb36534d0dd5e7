/** Shares what all scans of a list need: the query, the ledger row, and the watermark. */
import { isDeepStrictEqual } from 'node:util'
import { pageLimit as maxRows } from '../../api/client/paging.ts'
import type { Scan } from '../../contract/fields/resource.ts'
import { counted } from '../../lib/counted.ts'
import { countScans, freshScan, openScan, readScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { moveWatermark, readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask, serviceTime } from '../run/context.ts'
import { hiddenNote, Incomplete } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import type { WindowDays } from './windows.ts'

export const byUpdate = { sortBy: 'updatedAt', sortOrder: 'asc' }

/** Behaviour of a list that the contract does not describe. */
export interface Paging {
  /** Rows of a full page: as many as requested, unless the service returns fewer. */
  readonly pageSize: number
  /** Rows that the service counts but shows on no page. */
  readonly hiddenRows: number
}

export const scanOf = ({ resource }: ResourceTask): Scan => resource.read as Scan

export function daysQuery(task: ResourceTask, { from, to }: WindowDays): Record<string, string> {
  const { createdBetween } = scanOf(task)
  if (from === null && to === null) return {}
  return { ...createdBetween, ...(from !== null && { from }), ...(to !== null && { to }) }
}

interface WindowOpening extends WindowDays {
  readonly kind: ScanRow['kind']
  /** Set when days are read again: they are not part of the backfill. */
  readonly scope?: string
}

/** Creates the ledger row of a scan, in one transaction because the first page waits for it. */
export function openNewScan(task: ResourceTask, opening: WindowOpening): Promise<ScanRow> {
  const { sync, resource } = task
  return fenced(task, async engine => {
    const number = (await countScans(engine, sync.runId)) + 1
    const row = freshScan({
      scan_id: `${sync.runId}-${String(number).padStart(4, '0')}-${resource.name}`,
      resource: resource.name,
      kind: opening.kind,
      from_day: opening.from,
      to_day: opening.to,
      scope: opening.scope ?? null,
      run_id: sync.runId,
      started_at: now(sync),
      service_started_at: serviceTime(sync),
    })
    await openScan(engine, row)
    return row
  })
}

/** Call on the connection of the transaction that writes the rows up to the watermark. */
export async function setWatermark(
  engine: Engine,
  { sync, resource }: ResourceTask,
  change: Partial<WatermarkRow>,
): Promise<void> {
  await moveWatermark(engine, resource.name, { ...change, run_id: sync.runId, moved_at: now(sync) })
}

/** What earlier scans have learnt about the list, and the number of hidden rows given by the operator. */
export function pagingOf({ page_size, hidden_rows }: WatermarkRow, hidden = 0): Partial<Paging> {
  const hiddenRows = Math.max(Number(hidden_rows ?? 0), hidden)
  return {
    ...(page_size !== null && { pageSize: Number(page_size) }),
    ...(hiddenRows > 0 && { hiddenRows }),
  }
}

export const pageSizeOf = ({ page_size }: WatermarkRow): number => Number(page_size ?? maxRows)

/** What an accepted scan has found. */
interface WindowResult extends Paging {
  /** Whether it read the full list: a part shows only some of the hidden rows. */
  readonly isFullList: boolean
}

/** Stores what a scan has learnt for the next one. */
export async function learnPaging(
  engine: Engine,
  task: ResourceTask,
  { pageSize, hiddenRows: hidden, isFullList }: WindowResult,
): Promise<void> {
  const row = await readWatermark(engine, task.resource.name)
  if (!row) return
  const before: Paging = { pageSize: maxRows, hiddenRows: 0, ...pagingOf(row) }
  const hiddenRows = isFullList ? hidden : Math.max(before.hiddenRows, hidden)
  if (isDeepStrictEqual({ pageSize, hiddenRows }, before)) return
  task.counters.note =
    hiddenRows === before.hiddenRows
      ? `the service returns at most ${pageSize} records a page`
      : hiddenNote(hiddenRows)
  await setWatermark(engine, task, {
    page_size: pageSize === maxRows ? null : pageSize,
    hidden_rows: hiddenRows === 0 ? null : hiddenRows,
  })
}

const ifHidden = (name: string, rows: number): string =>
  `everything read so far is loaded; run muster sync again; if the service hides them, muster sync ${name} --hidden ${rows}`

/** The shortfall of a refused scan, as recorded in the transaction of its last batch. */
export async function refusal(
  { sync, resource }: ResourceTask,
  row: ScanRow,
  contradiction?: string,
): Promise<Incomplete> {
  const { distinct_ids, expected_ids, attempt } = (await readScan(sync.engine, row.scan_id)) ?? row
  const hides = Number(expected_ids) - Number(distinct_ids)
  return new Incomplete({
    resource: resource.name,
    seen: Number(distinct_ids),
    expected: Number(expected_ids),
    reason: contradiction ?? `the list did not show more in ${counted(Number(attempt), 'pass', 'passes')}`,
    ...(hides > 0 && contradiction === undefined && { next: ifHidden(resource.name, hides) }),
  })
}
