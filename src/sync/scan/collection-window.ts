/** What the scans of a list share: their query, their ledger row, and the watermark. */
import { isDeepStrictEqual } from 'node:util'
import { pageLimit as mostRows } from '../../api/client/paging.ts'
import type { Scan } from '../../contract/fields/resource.ts'
import { counted } from '../../lib/counted.ts'
import { countScans, freshScan, openScan, readScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { moveWatermark, readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask, serviceTime } from '../run/context.ts'
import { hiddenNote } from '../run/hidden-note.ts'
import { fenced } from '../run/hold-lease.ts'
import { Incomplete } from '../run/incomplete.ts'
import type { Days } from './windows.ts'

export const byUpdate = { sortBy: 'updatedAt', sortOrder: 'asc' }

/** What a list does that the contract does not say. */
export interface Paging {
  /** Rows of a full page. */
  readonly pageSize: number
  /** Rows to ask for a page: fewer than usual where the service does not say how few its pages have. */
  readonly pageLimit: number
  /** Rows that the service counts and shows on no page. */
  readonly hiddenRows: number
}

export const scanOf = ({ resource }: ResourceTask): Scan => resource.read as Scan

export function daysQuery(task: ResourceTask, { from, to }: Days): Record<string, string> {
  const { createdBetween } = scanOf(task)
  if (from === null && to === null) return {}
  return { ...createdBetween, ...(from !== null && { from }), ...(to !== null && { to }) }
}

interface Opening extends Days {
  readonly kind: ScanRow['kind']
  /** Set for days that are read again: they are no part of the backfill. */
  readonly scope?: string
}

/** Creates the ledger row of a scan, in one transaction because the first page waits for it. */
export function openNewScan(task: ResourceTask, opening: Opening): Promise<ScanRow> {
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

/** On the connection of the transaction that writes the rows up to the watermark. */
export async function setWatermark(
  engine: Engine,
  { sync, resource }: ResourceTask,
  change: Partial<WatermarkRow>,
): Promise<void> {
  await moveWatermark(engine, resource.name, { ...change, run_id: sync.runId, moved_at: now(sync) })
}

/** What earlier scans have learnt of the list. */
export const pagingOf = ({ page_size, page_limit, hidden_rows }: WatermarkRow): Partial<Paging> => ({
  ...(page_size !== null && { pageSize: Number(page_size) }),
  ...(page_limit !== null && { pageLimit: Number(page_limit) }),
  ...(hidden_rows !== null && { hiddenRows: Number(hidden_rows) }),
})

export const pageSizeOf = (watermark: WatermarkRow): number => pagingOf(watermark).pageSize ?? mostRows

/** Remembers what a scan has learnt, so that the next one need not. */
export async function learnPaging(
  engine: Engine,
  task: ResourceTask,
  { learnt, before }: { readonly learnt: Paging; readonly before: Paging },
): Promise<void> {
  const isSame = isDeepStrictEqual(learnt, before)
  if (isSame || !(await readWatermark(engine, task.resource.name))) return
  const { pageSize, hiddenRows } = learnt
  if (pageSize !== before.pageSize)
    task.counters.note = `the service gives at most ${pageSize} records a page`
  if (hiddenRows !== before.hiddenRows) task.counters.note = hiddenNote(hiddenRows)
  await setWatermark(engine, task, {
    page_size: pageSize === mostRows ? null : pageSize,
    page_limit: learnt.pageLimit === mostRows ? null : learnt.pageLimit,
    hidden_rows: hiddenRows === 0 ? null : hiddenRows,
  })
}

/** What a refused scan lacks, as the transaction of its last batch has recorded it. */
export async function refusal({ sync, resource }: ResourceTask, row: ScanRow): Promise<Incomplete> {
  const { distinct_ids, expected_ids, attempt } = (await readScan(sync.engine, row.scan_id)) ?? row
  return new Incomplete({
    resource: resource.name,
    seen: Number(distinct_ids),
    expected: Number(expected_ids),
    reason: `the list did not show more in ${counted(Number(attempt), 'pass', 'passes')}`,
  })
}
