/** Source times, kept as the text the service sent: a JavaScript Date drops what is finer than a millisecond. */
import { dayMs } from '../../lib/dates.ts'

/** Later of two instants: by their millisecond, then by their text, which orders finer digits of one format. */
export function isLater(left: string, right: string): boolean {
  const difference = Date.parse(left) - Date.parse(right)
  return difference > 0 || (difference === 0 && left > right)
}

/**
 * A time further ahead of our clock is a mistake in its record. As the watermark it would hide every change until that day.
 * If our clock is wrong instead, the watermark is too low, which only costs requests.
 */
const farAheadMs = dayMs

export interface Span {
  readonly oldest?: string
  /** Times that are far ahead of now do not count. */
  readonly newest?: string
  readonly inOrder: boolean
}

/** Smallest and greatest time among records, and whether they ascend. Records without a readable time break the order. */
export function spanOf(records: readonly unknown[], field: string, nowMs: number): Span {
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
