/** How far back an incremental scan reads. */
import { type WatermarkHistory, watermarkHistory } from '../../state/scans/scans.ts'
import type { Known } from '../paging/pass-state.ts'
import type { ResourceTask } from '../run/context.ts'

interface KnownFrom extends WatermarkHistory {
  readonly watermark: string
  readonly lookbackMs: number
}

/**
 * Records can be committed later than their times say, so a scan reads back to a lookback before the watermark. The service
 * had reached the time of the watermark when a scan first found it. Once a later scan has begun more than the lookback after
 * that, every record at or below the watermark had been committed and was read. Both times come from our clock, because the
 * clock of the service may differ by hours; twice the lookback must pass, because of two machines that share a warehouse one
 * may be ahead.
 */
export function knownBelow({ watermark, seen, begun, lookbackMs }: KnownFrom): Known {
  const at = Date.parse(watermark)
  const isSettled =
    seen !== undefined && begun !== undefined && Date.parse(begun) - Date.parse(seen) > 2 * lookbackMs
  // Everything of the time of the watermark itself is known then, up to the end of its millisecond.
  return { before: isSettled ? at + 1 : at - lookbackMs, reached: at }
}

export async function knownTo({ sync, resource }: ResourceTask, watermark: string): Promise<Known> {
  const history = await watermarkHistory(sync.engine, resource.name, watermark)
  return knownBelow({ watermark, ...history, lookbackMs: sync.lookbackMs })
}
