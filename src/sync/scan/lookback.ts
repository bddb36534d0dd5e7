/** How far back an incremental scan reads. */
import { type WatermarkHistory, watermarkHistory } from '../../state/scans/scans.ts'
import type { Known } from '../paging/pass-state.ts'
import { type ResourceTask, serviceTime } from '../run/context.ts'

interface KnownFrom extends WatermarkHistory {
  readonly watermark: string
  readonly lookbackMs: number
}

/**
 * Records can be committed later than their times say, so a scan reads back to a lookback before the watermark. The service
 * had reached the time of the watermark when a scan first found it. Once a later scan has begun more than the lookback after
 * that, every record at or below the watermark had been committed and was read. All times come from the clock of the service:
 * machines that share a warehouse may differ by hours. Twice the lookback must pass, because its answers name the second only.
 */
export function knownBelow({ watermark, seen, begun, lookbackMs }: KnownFrom): Known {
  const at = Date.parse(watermark)
  const isSettled =
    seen !== undefined && begun !== undefined && Date.parse(begun) - Date.parse(seen) > 2 * lookbackMs
  // Everything of the time of the watermark itself is known then, up to the end of its millisecond.
  return { before: isSettled ? at + 1 : at - lookbackMs, reached: at }
}

const unknownHistory: WatermarkHistory = { seen: undefined, begun: undefined }

export async function knownTo({ sync, resource }: ResourceTask, watermark: string): Promise<Known> {
  const now = serviceTime(sync)
  // Without the time of the service nothing is settled.
  if (now === null) return knownBelow({ watermark, ...unknownHistory, lookbackMs: sync.lookbackMs })
  const history = await watermarkHistory(sync.engine, resource.name, { watermark, now })
  return knownBelow({ watermark, ...history, lookbackMs: sync.lookbackMs })
}
