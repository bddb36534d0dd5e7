/** Created-date windows of a backfill: newest first, each sized by the pages of the one before it. */
import { lastPage } from '../../api/client/paging.ts'
import { daysBetween, utcDay } from '../../lib/dates.ts'

/** Pages that a window should have: few enough to be read again, and enough that overlaps cost little. */
export const pagesPerWindow = 50

/**
 * Shorter windows pay more for their overlap. With 14 days, 15 are read, both ends included, of which 12 are new: ten million
 * timesheets took 62,440 requests for 50,000 pages.
 */
const leastDays = 28

/** The zone and the inclusivity of the day filter are unknown. With two shared days no record is lost, whatever they are. */
const sharedDays = 2

export interface Days {
  /** YYYY-MM-DD; null leaves that end open. */
  readonly from: string | null
  readonly to: string | null
}

export interface BackfillExtent {
  /** Rows the service has in all. */
  readonly total: number
  /** Day of the oldest record. */
  readonly earliest: string
  /** Day the backfill began. */
  readonly today: string
}

const clampDays = (days: number): number => Math.max(leastDays, Math.floor(days))

/** A window of so many days up to `to`, or up to today. */
function endingAt(to: string | null, days: number, { earliest, today }: BackfillExtent): Days {
  const from = utcDay(to ?? today, -days)
  // The oldest window is open, so that a record dated before the oldest known one is still in it.
  return { from: from <= earliest ? null : from, to }
}

export function firstWindow(extent: BackfillExtent): Days {
  const { total, earliest, today } = extent
  if (lastPage(total) <= pagesPerWindow) return { from: null, to: null }
  const span = Math.max(1, daysBetween(earliest, today))
  const days = clampDays((pagesPerWindow * span) / lastPage(total))
  return endingAt(null, days, extent)
}

/** The window before `previous`, which had that many pages; undefined when `previous` reached the oldest record. */
export function nextWindow(
  previous: Days & { readonly pages: number },
  extent: BackfillExtent,
): Days | undefined {
  if (previous.from === null) return undefined
  const span = daysBetween(previous.from, previous.to ?? extent.today)
  // At most four times the last one: a quiet fortnight must not make the next window cover everything.
  const days = Math.min(clampDays((span * pagesPerWindow) / Math.max(1, previous.pages)), span * 4)
  const to = utcDay(previous.from, sharedDays)
  return endingAt(to, days, extent)
}
