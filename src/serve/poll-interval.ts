/** How long to leave between two reads that events ask for, so that the day's part for them lasts till its end. */

import { hourMs, startOfUtcDay } from '../lib/dates.ts'
export interface Spent {
  /** Requests of the latest read. */
  readonly requests: number
  readonly remainingToday: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What the key keeps for events, of what is left of its day. */
const part = 0.1

/** Milliseconds from one read to the next: never less than `leastMs`, and an hour at most. */
export function paceAfter({ requests, remainingToday, at }: Spent, leastMs: number): number {
  const left = startOfUtcDay(at, 1) - at
  const affordable = Math.max(1, remainingToday * part)
  return Math.min(Math.max(leastMs, (left * requests) / affordable), Math.max(leastMs, hourMs))
}
