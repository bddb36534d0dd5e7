/** How far down a walk over changes reads. */
import { type WatermarkHistory, watermarkHistory } from '../../state/scans/scans.ts'
import type { ResourceTask } from '../run/context.ts'
import type { Known } from './pass.ts'

interface Marked extends WatermarkHistory {
  readonly mark: string
  readonly lookbackMs: number
}

/**
 * Records may be committed later than their times say, so that a walk looks back behind the mark. When the mark was first
 * found the service had reached that time: once a walk has begun more than the lookback later, all that belongs at or below
 * the mark had come, and it was read. Both are times of our clock, as that of the service may be hours away from it; of two
 * machines that share a warehouse one may be ahead, so that twice the time must have gone by.
 */
export function knownBelow({ mark, seen, begun, lookbackMs }: Marked): Known {
  const at = Date.parse(mark)
  const isSettled =
    seen !== undefined && begun !== undefined && Date.parse(begun) - Date.parse(seen) > 2 * lookbackMs
  return isSettled ? { before: at, at: mark } : { before: at - lookbackMs }
}

export async function knownTo({ sync, resource }: ResourceTask, mark: string): Promise<Known> {
  const history = await watermarkHistory(sync.engine, resource.name, mark)
  return knownBelow({ mark, ...history, lookbackMs: sync.lookbackMs })
}
