/** The cost of reading a resource, computed from what is known of its size; all figures are requests. */
import { lastPage } from '../../api/client/paging.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { pagesPerWindow } from '../scan/windows.ts'

/** The least and the most that is expected. */
export interface Range {
  readonly low: number
  readonly high: number
}

export interface Estimate extends Range {
  /** Where the figures come from, in words. */
  readonly reasoning: string
}

/** What is known of the size of a resource before it is read. */
export type KnownSize =
  | { readonly kind: 'key' }
  /** Not for this kind of key. */
  | { readonly kind: 'none'; readonly why: string }
  /** The size is not known, and no request may be sent. */
  | { readonly kind: 'unknown' }
  /** The whole list; `canWindow`: it has a filter of created days; `pagesDone`: pages that earlier runs loaded. */
  | {
      readonly kind: 'backfill'
      readonly total: number
      readonly canWindow: boolean
      readonly pagesDone: number
    }
  /** Records created between two days. */
  | { readonly kind: 'between'; readonly total: number }
  /** Changes since the watermark; `changed` is the average of the last runs, undefined before the first of them. */
  | {
      readonly kind: 'changes'
      readonly total: number
      readonly changed: number | undefined
      readonly days: number
    }
  /** Records read by id: never fetched, to be retried, and stored ones that are worth another fetch. */
  | { readonly kind: 'ids'; readonly neverFetched: number; readonly retried: number; readonly worth: number }
  /** Ids that the first sync will find, from some of the records that name them. */
  | { readonly kind: 'ids to come'; readonly low: number; readonly high: number; readonly source: string }
  /** Scopes that are due, and the pages expected; `source` says what the expectation is based on. */
  | {
      readonly kind: 'snapshot'
      readonly scopes: number
      readonly pages: number | undefined
      readonly source: string
      /** Whether all pages were counted, rather than estimated from some of them. */
      readonly isCounted: boolean
    }

/** Share of a list that changes in a day, before any run has shown it; busy lists change less. */
const dailyChange = 0.05

const rowsOn = (total: number, pages: number): string =>
  `${counted(total, 'row')} on ${counted(pages, 'page')}`

function ofBackfill({ total, canWindow, pagesDone }: Extract<KnownSize, { kind: 'backfill' }>): Estimate {
  const pages = lastPage(total)
  if (pages <= pagesPerWindow || !canWindow) {
    return {
      low: pages + 1,
      high: pages + 2,
      reasoning: `${rowsOn(total, pages)}, and one request returns the total`,
    }
  }
  const windows = Math.ceil(pages / pagesPerWindow)
  const begun = pagesDone > 0
  const left = Math.max(1, pages - pagesDone)
  const share = left / pages
  const low = left + Math.ceil(windows * share) + (begun ? 0 : 2)
  return {
    low,
    // Windows of 28 days read 29 for 26 that are new, and quiet months make more of them.
    high: Math.ceil(low * 1.15) + Math.ceil(windows * share),
    reasoning: `${rowsOn(total, pages)} in about ${counted(windows, 'window')} of created days${begun ? `, ${counted(pagesDone, 'page')} of them done` : ''}; each window takes one request more and overlaps the next by two days`,
  }
}

function ofBetween({ total }: Extract<KnownSize, { kind: 'between' }>): Estimate {
  const pages = lastPage(total)
  const low = pages === 1 ? 1 : pages + 1
  return {
    low,
    high: Math.ceil(low * 1.1) + 1,
    reasoning: `${rowsOn(total, pages)}, and page 1 is read first for the total`,
  }
}

function ofChanges({ total, changed, days }: Extract<KnownSize, { kind: 'changes' }>): Estimate {
  if (changed !== undefined) {
    const pages = Math.max(1, Math.ceil(changed / 200))
    return {
      low: pages,
      high: pages + 2,
      reasoning: `a run reads about ${counted(Math.round(changed), 'row')} (average of the last runs), and up to two requests find the first of them`,
    }
  }
  const most = Math.ceil(total * Math.min(1, dailyChange * Math.max(1, days)))
  return {
    low: 1,
    high: Math.ceil(most / 200) + 2,
    reasoning: `no earlier run to learn from: assumes at most ${dailyChange * 100}% of ${counted(total, 'row')} a day, over ${counted(Math.max(1, days), 'day')}`,
  }
}

function ofSnapshot({
  scopes,
  pages,
  source,
  isCounted,
}: Extract<KnownSize, { kind: 'snapshot' }>): Estimate {
  if (scopes === 0) return { low: 0, high: 0, reasoning: 'nothing is due' }
  const low = Math.max(scopes, pages ?? 0)
  const size = pages === undefined ? source : `${counted(low, 'page')} (${source})`
  // A list that changes between its pages is read again.
  const most = pages === undefined ? 2 : isCounted ? 1.1 : 1.5
  const high = Math.ceil(low * most) + 1
  return { low, high, reasoning: `${counted(scopes, 'scope')} due, ${size}` }
}

function ofIds({ neverFetched, retried, worth }: Extract<KnownSize, { kind: 'ids' }>): Estimate {
  const parts = [
    neverFetched > 0 && `${formatNumber(neverFetched)} never fetched`,
    retried > 0 && `${formatNumber(retried)} to be retried`,
    worth > 0 && `${formatNumber(worth)} worth another fetch, as far as the budget of the day goes`,
  ].filter(part => part !== false)
  const reasoning = parts.length === 0 ? 'nothing is due' : parts.join(', ')
  const low = neverFetched + retried
  return { low, high: low + worth, reasoning: `${reasoning}; ids found during the run come on top` }
}

export function estimate(size: KnownSize): Estimate {
  switch (size.kind) {
    case 'key':
      return { low: 1, high: 2, reasoning: 'once a run, and again every 15 minutes' }
    case 'none':
      return { low: 0, high: 0, reasoning: size.why }
    case 'unknown':
      return {
        low: 1,
        high: 1,
        reasoning: 'its size is not known: at least one request (leave out --offline)',
      }
    case 'backfill':
      return ofBackfill(size)
    case 'between':
      return ofBetween(size)
    case 'changes':
      return ofChanges(size)
    case 'snapshot':
      return ofSnapshot(size)
    case 'ids':
      return ofIds(size)
    case 'ids to come':
      return {
        low: size.low,
        high: size.high,
        reasoning: size.source,
      }
  }
}

export interface Limits {
  readonly perMinute: number
  /** What a sync may still spend today, after reserves. */
  readonly spendableToday: number
  /** What it may spend in a whole day. */
  readonly spendablePerDay: number
}

export interface Duration {
  /** At the key's limit per minute, if the day had no limit. */
  readonly minutes: number
  /** Days on which requests are spent: 1 when today's rest is enough. */
  readonly days: number
}

/** The rest of today is spent first, then whole days. */
export function durationOf(requests: number, limits: Limits): Duration {
  const minutes = Math.ceil(requests / Math.max(1, limits.perMinute))
  const left = Math.max(0, requests - limits.spendableToday)
  const begun = limits.spendableToday > 0 || requests === 0 ? 1 : 0
  const days = requests === 0 ? 0 : begun + Math.ceil(left / Math.max(1, limits.spendablePerDay))
  return { minutes, days }
}

export const sumOf = (ranges: readonly Range[]): Range =>
  ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), { low: 0, high: 0 })
