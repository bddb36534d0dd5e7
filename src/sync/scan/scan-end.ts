/** Records what an accepted scan proves beyond its rows: the watermark, and that a backfill is complete. */
import { backfillScans } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isLater } from '../paging/times.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { scanOf, setWatermark } from './collection-window.ts'

export interface ScanEnd {
  /** The proved watermark, as the service wrote it. */
  readonly watermark: string | null
  /** Number of records in the list when it was read. */
  readonly total: number
  /** Digests of the rows of its pages, for the next scan; null if it may not rely on them. */
  readonly digests: string | null
}

interface AcceptedWindow {
  readonly window: Pick<ScanRow, 'scan_id' | 'from_day'>
  readonly windows: readonly Pick<ScanRow, 'scan_id' | 'state' | 'from_day'>[]
  /** The watermark from before the first window. */
  readonly pending: string | null
  readonly end: Pick<ScanEnd, 'watermark' | 'total'>
}

/**
 * Returns the watermark of a complete backfill. Undefined while another window is open, or if none reaches the oldest
 * record. Changes made while the windows were read are newer than `pending`.
 */
export function completedBackfill(accepted: AcceptedWindow): Partial<WatermarkRow> | undefined {
  const { window, windows, pending, end } = accepted
  const others = windows.filter(({ scan_id }) => scan_id !== window.scan_id)
  if (others.some(other => other.state !== 'accepted')) return undefined
  if (![window, ...others].some(({ from_day }) => from_day === null)) return undefined
  if (pending !== null) return { watermark: pending, pending_watermark: null }
  return { watermark: end.watermark, pending_watermark: null, remembered_total: end.total }
}

const later = (found: string | null, stored: string | null): string | null =>
  found !== null && (stored === null || isLater(found, stored)) ? found : stored

/** Never moves the watermark back: if a list has lost its newest records, the stored watermark is newer. */
const ofChanges = (end: ScanEnd, stored: string | null): Partial<WatermarkRow> => ({
  watermark: later(end.watermark, stored),
  same_rows: end.digests,
})

async function movedBy(
  engine: Engine,
  task: ResourceTask,
  { row, end }: { readonly row: ScanRow; readonly end: ScanEnd },
): Promise<Partial<WatermarkRow> | undefined> {
  const { name } = task.resource
  const before = await readWatermark(engine, name)
  if (row.kind === 'incremental') {
    const change = ofChanges(end, before?.watermark ?? null)
    // A filtered list remembers the total of its first reading.
    return scanOf(task).changedSince ? change : { ...change, remembered_total: end.total }
  }
  const windows = await backfillScans(engine, name)
  const pending = before?.pending_watermark ?? null
  const change = completedBackfill({ window: row, windows, pending, end })
  return change && { ...change, backfilled_at: now(task.sync) }
}

/**
 * Call on the connection of the transaction that accepts the scan. Days that are read again do not move the watermark.
 */
export async function moveWatermarkBy(
  engine: Engine,
  task: ResourceTask,
  accepted: { readonly row: ScanRow; readonly end: ScanEnd },
): Promise<void> {
  const change = accepted.row.scope === null ? await movedBy(engine, task, accepted) : undefined
  if (change) await setWatermark(engine, task, change)
}
