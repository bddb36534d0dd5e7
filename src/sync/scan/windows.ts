/** Plans the created-date windows of a backfill: newest first, each sized by the page count of the previous one. */
import { lastPage } from '../../api/client/paging.ts'
import { daysBetween, utcDay } from '../../lib/dates.ts'

/** Target for a window's pages: few enough to read again, and enough that overlaps cost little. */
export const pagesPerWindow = 50

/**
 * Shorter windows lose more to their overlap. A window of 14 days reads 15, including both ends, of which 12 are new:
 * ten million timesheets took 62,440 requests for 50,000 pages.
 */
const minDays = 28

/**
 * It is unknown which time zone the day filter uses, and whether it is inclusive. With two shared days, no record is
 * lost in any case.
 */
const sharedDays = 2

export interface WindowDays {
  /** YYYY-MM-DD; null leaves that end open. */
  readonly from: string | null
  readonly to: string | null
}

export interface BackfillExtent {
  /** Rows of the list in all. */
  readonly total: number
  /** Day of the oldest record. */
  readonly earliest: string
  /** Day the backfill began. */
  readonly today: string
}

const clampDays = (days: number): number => Math.max(minDays, Math.floor(days))

/** A window of this many days up to `to`, or up to today. */
function endingAt(to: string | null, days: number, { earliest, today }: BackfillExtent): WindowDays {
  const from = utcDay(to ?? today, -days)
  // The oldest window is open-ended, so it also covers records dated before the oldest known one.
  return { from: from <= earliest ? null : from, to }
}

export function firstWindow(extent: BackfillExtent): WindowDays {
  const { total, earliest, today } = extent
  const span = Math.max(1, daysBetween(earliest, today))
  const days = clampDays((pagesPerWindow * span) / lastPage(total))
  return endingAt(null, days, extent)
}

/** The window before `previous`, which had `pages` pages; undefined when `previous` reached the oldest record. */
export function nextWindow(
  previous: WindowDays & { readonly pages: number },
  extent: BackfillExtent,
): WindowDays | undefined {
  if (previous.from === null) return undefined
  const span = daysBetween(previous.from, previous.to ?? extent.today)
  // At most four times the previous one: a quiet fortnight must not make the next window cover everything.
  const days = Math.min(clampDays((span * pagesPerWindow) / Math.max(1, previous.pages)), span * 4)
  const to = utcDay(previous.from, sharedDays)
  return endingAt(to, days, extent)
}
