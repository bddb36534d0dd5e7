/** How long a record that could not be read is left alone. */

import { dayMs } from '../../lib/dates.ts'

/** As often as the refresh policy wants every record seen at least. */
const mostDays = 30

/**
 * Days after so many answers in a row that did not bring the record: 1, 2, 4 and so on, 30 at most. A signal or another
 * scope of the key asks at once.
 */
export function backOffDays(misses: number): number {
  return Math.min(mostDays, 2 ** Math.min(10, Math.max(0, misses - 1)))
}

/** ISO 8601. */
export function retryAfter(misses: number, nowMs: number): string {
  return new Date(nowMs + backOffDays(misses) * dayMs).toISOString()
}
