/** Compares the service's times as text, since a JavaScript Date drops everything below a millisecond. */
import { dayMs } from '../../lib/dates.ts'

/** Compares two times by millisecond, then by text, which orders the finer digits of a common format. */
export function isLater(left: string, right: string): boolean {
  const difference = Date.parse(left) - Date.parse(right)
  return difference > 0 || (difference === 0 && left > right)
}

/**
 * A time further ahead of the local clock is a mistake in its record: as the watermark, it would hide every change
 * until that day. If the local clock is wrong instead, the watermark is too low, which only costs requests.
 */
const farAheadMs = dayMs

export interface TimeSpan {
  readonly oldest?: string
  /** Ignores times that are far in the future. */
  readonly newest?: string
  readonly inOrder: boolean
}

/**
 * Finds the earliest and latest time among records, and whether they ascend. Records without a readable time break the
 * order.
 */
export function spanOf(records: readonly unknown[], field: string, nowMs: number): TimeSpan {
  let span: { oldest?: string; newest?: string } = {}
  let inOrder = true
  let previous = ''
  for (const record of records) {
    const time = (record as Record<string, unknown> | null)?.[field]
    if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
      inOrder = false
      continue
    }
    if (isLater(previous, time)) inOrder = false
    previous = time
    if (span.oldest === undefined || isLater(span.oldest, time)) span = { ...span, oldest: time }
    if (Date.parse(time) > nowMs + farAheadMs) continue
    if (span.newest === undefined || isLater(time, span.newest)) span = { ...span, newest: time }
  }
  return { ...span, inOrder }
}
