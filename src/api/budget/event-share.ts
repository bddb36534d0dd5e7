/** How much of a day reads for events may take. Whoever signs events decides how many there are; this bounds what they cost. */
import { reserves } from './day.ts'

/** The most requests of a UTC day for reads that events cause. */
export const eventsPerDay = (perDay: number): number => Math.floor(perDay * reserves.webhook)

/** One request tells the limits of the key: fewer than this read next to nothing. */
const leastPerRead = 10

/**
 * The most requests of one read, when `left` of the share of the day are left: half of them, so that no single read uses
 * up the day, and again half for each read in a row that found few of its records.
 */
export function readLimit(left: number, emptyReads: number): number {
  const half = Math.floor(left / 2 ** (1 + emptyReads))
  return Math.max(0, Math.min(left, Math.max(leastPerRead, half)))
}
