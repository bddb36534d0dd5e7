/** Estimates the cost of reading a resource from its known size, in requests. */
import { lastPage } from '../../api/client/paging.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { pagesPerWindow } from '../scan/windows.ts'

/** Minimum and maximum expected. */
export interface Range {
  readonly low: number
  readonly high: number
}

export interface Estimate extends Range {
  /** Where the numbers come from, in words. */
  readonly reasoning: string
}

/** Ids that a sync will find, estimated from some of the records that refer to them. */
export interface IdsToCome extends Range {
  readonly kind: 'ids to come'
  readonly source: string
}

/** What is known about the size of a resource before it is read. */
export type KnownSize =
  | { readonly kind: 'key' }
  /** Not available to this kind of key. */
  | { readonly kind: 'none'; readonly why: string }
  /** The size is unknown, and no request may be sent. */
  | { readonly kind: 'unknown' }
  /** The full list; `canWindow`: it can be filtered by created day; `pagesDone`: pages that earlier runs loaded. */
  | {
      readonly kind: 'backfill'
      readonly total: number
      readonly canWindow: boolean
      readonly pagesDone: number
    }
  /** Records created between two days. */
  | { readonly kind: 'between'; readonly total: number }
  /** Changes since the watermark; `changed` is the average of the last runs, undefined before the first. */
  | {
      readonly kind: 'changes'
      readonly total: number
      readonly changed: number | undefined
      readonly days: number
    }
  /** Records read by id: never fetched, to be retried, stored ones worth another fetch, and ids that the run will find. */
  | {
      readonly kind: 'ids'
      readonly neverFetched: number
      readonly retried: number
      readonly worth: number
      readonly toCome?: IdsToCome
    }
  | IdsToCome
  /** Scopes that are due, and the expected pages; `source` says what the number is based on. */
  | {
      readonly kind: 'snapshot'
      readonly scopes: number
      readonly pages: number | undefined
      readonly source: string
      /** Whether all pages were counted, rather than estimated from some of them. */
      readonly isCounted: boolean
    }

/** Share of a list that changes in a day, until a run has shown it; busy lists change less. */
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
    // Windows of 28 days read 29, of which 26 are new; quiet months need additional windows.
    high: Math.ceil(low * 1.15) + Math.ceil(windows * share),
    reasoning: `${rowsOn(total, pages)} in about ${counted(windows, 'window')} of created days${begun ? `, ${counted(pagesDone, 'page')} done` : ''}; each window takes one request more and overlaps the next by two days`,
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
  const upper = Math.ceil(total * Math.min(1, dailyChange * Math.max(1, days)))
  return {
    low: 1,
    high: Math.ceil(upper / 200) + 2,
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
  const upper = pages === undefined ? 2 : isCounted ? 1.1 : 1.5
  const high = Math.ceil(low * upper) + 1
  return { low, high, reasoning: `${counted(scopes, 'scope')} due, ${size}` }
}

function ofIds({
  neverFetched,
  retried,
  worth,
  toCome = { kind: 'ids to come', low: 0, high: 0, source: '' },
}: Extract<KnownSize, { kind: 'ids' }>): Estimate {
  const parts = [
    neverFetched > 0 && `${formatNumber(neverFetched)} never fetched`,
    retried > 0 && `${formatNumber(retried)} to be retried`,
    worth > 0 && `${formatNumber(worth)} worth another fetch, as far as the budget of the day goes`,
    toCome.high > 0 && `up to ${formatNumber(toCome.high)} to be found (${toCome.source})`,
  ].filter(part => part !== false)
  const reasoning = parts.length === 0 ? 'nothing is due' : parts.join(', ')
  const low = neverFetched + retried + toCome.low
  const high = neverFetched + retried + worth + toCome.high
  return { low, high, reasoning: toCome.high > 0 ? reasoning : `${reasoning}; plus ids found during the run` }
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
        reasoning: 'its size is unknown: at least one request (leave out --offline)',
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
  /** Requests that a sync may still spend today, after reserves. */
  readonly spendableToday: number
  /** Requests that it may spend in a whole day. */
  readonly spendablePerDay: number
}

export interface Duration {
  /** At the key's limit per minute, ignoring the limit per day. */
  readonly minutes: number
  /** Days on which requests are spent: 1 if the rest of today is enough. */
  readonly days: number
}

/** Spends the rest of today first, then whole days. */
export function durationOf(requests: number, limits: Limits): Duration {
  const minutes = Math.ceil(requests / Math.max(1, limits.perMinute))
  const left = Math.max(0, requests - limits.spendableToday)
  const begun = limits.spendableToday > 0 || requests === 0 ? 1 : 0
  const days = requests === 0 ? 0 : begun + Math.ceil(left / Math.max(1, limits.spendablePerDay))
  return { minutes, days }
}

export const sumOf = (ranges: readonly Range[]): Range =>
  ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), { low: 0, high: 0 })
