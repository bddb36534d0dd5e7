/** What reading a resource costs, as arithmetic over what is known of it; all figures are requests. */
import { lastPage } from '../../api/client/paging.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { pagesPerWindow } from '../scan/windows.ts'

/** Least and most that are to be expected. */
export interface Range {
  readonly low: number
  readonly high: number
}

export interface Estimate extends Range {
  /** How the figures come about, in words. */
  readonly reasoning: string
}

/** What is known of a resource before it is read. */
export type Reading =
  | { readonly kind: 'key' }
  /** Not for this kind of key. */
  | { readonly kind: 'none'; readonly why: string }
  /** Its size is not known, and was not to be asked for. */
  | { readonly kind: 'unknown' }
  /** The whole list; `canWindow` tells whether it has a created-date filter, `pagesDone` what earlier runs loaded. */
  | {
      readonly kind: 'backfill'
      readonly total: number
      readonly canWindow: boolean
      readonly pagesDone: number
    }
  /** Records created between two days. */
  | { readonly kind: 'between'; readonly total: number }
  /** What changed since the mark; `changed` is the average of the last runs, undefined before the first of them. */
  | {
      readonly kind: 'changes'
      readonly total: number
      readonly changed: number | undefined
      readonly days: number
    }
  /** Records that are read by id: never read, to be tried again, and held ones that are worth reading again. */
  | { readonly kind: 'ids'; readonly unseen: number; readonly retried: number; readonly worth: number }
  /** Their ids are not known before the lists are read; `most` says how many those can name, and of what. */
  | { readonly kind: 'ids to come'; readonly most: number; readonly per: string }
  /** Scopes that are due, and how many pages they are expected to have; `source` says who expects it. */
  | {
      readonly kind: 'snapshot'
      readonly scopes: number
      readonly pages: number | undefined
      readonly source: string
      /** Whether the pages were counted, rather than concluded from a part of them. */
      readonly isCounted: boolean
    }

/** Share of a list that changes in a day, before anything is known of it; more than busy lists show. */
const dailyChange = 0.05

const rowsOn = (total: number, pages: number): string =>
  `${counted(total, 'row')} on ${counted(pages, 'page')}`

function ofBackfill({ total, canWindow, pagesDone }: Extract<Reading, { kind: 'backfill' }>): Estimate {
  const pages = lastPage(total)
  if (pages <= pagesPerWindow || !canWindow) {
    return {
      low: pages + 1,
      high: pages + 2,
      reasoning: `${rowsOn(total, pages)}, and one request tells the total`,
    }
  }
  const windows = Math.ceil(pages / pagesPerWindow)
  const begun = pagesDone > 0
  const left = Math.max(1, pages - pagesDone)
  const share = left / pages
  const low = left + Math.ceil(windows * share) + (begun ? 0 : 2)
  return {
    low,
    // Windows overlap by two days of at least fourteen, and quiet months make more of them.
    high: Math.ceil(low * 1.15) + Math.ceil(windows * share),
    reasoning: `${rowsOn(total, pages)} in about ${counted(windows, 'window')} of created days${begun ? `, ${counted(pagesDone, 'page')} of them done` : ''}; each window asks once more and shares two days with the next`,
  }
}

function ofBetween({ total }: Extract<Reading, { kind: 'between' }>): Estimate {
  const pages = lastPage(total)
  const low = pages === 1 ? 1 : pages + 1
  return {
    low,
    high: Math.ceil(low * 1.1) + 1,
    reasoning: `${rowsOn(total, pages)}, and page 1 is asked first for the total`,
  }
}

function ofChanges({ total, changed, days }: Extract<Reading, { kind: 'changes' }>): Estimate {
  if (changed !== undefined) {
    const pages = Math.max(1, Math.ceil(changed / 200))
    return {
      low: pages,
      high: pages + 2,
      reasoning: `a run reads about ${counted(Math.round(changed), 'row')} (average of the last runs), and up to two requests find where they begin`,
    }
  }
  const most = Math.ceil(total * Math.min(1, dailyChange * Math.max(1, days)))
  return {
    low: 1,
    high: Math.ceil(most / 200) + 2,
    reasoning: `no run over changes to learn from: at most ${dailyChange * 100}% of ${counted(total, 'row')} a day is assumed, over ${counted(Math.max(1, days), 'day')}`,
  }
}

function ofSnapshot({ scopes, pages, source, isCounted }: Extract<Reading, { kind: 'snapshot' }>): Estimate {
  if (scopes === 0) return { low: 0, high: 0, reasoning: 'nothing is due' }
  const low = Math.max(scopes, pages ?? 0)
  const size = pages === undefined ? source : `${counted(low, 'page')} (${source})`
  // A list that changes between its pages is read again.
  const most = pages === undefined ? 2 : isCounted ? 1.1 : 1.5
  const high = Math.ceil(low * most) + 1
  return { low, high, reasoning: `${counted(scopes, 'scope')} due, ${size}` }
}

function ofIds({ unseen, retried, worth }: Extract<Reading, { kind: 'ids' }>): Estimate {
  const parts = [
    unseen > 0 && `${formatNumber(unseen)} never read`,
    retried > 0 && `${formatNumber(retried)} to be tried again`,
    worth > 0 && `${formatNumber(worth)} worth reading again, as far as the pace of the day goes`,
  ].filter(part => part !== false)
  const reasoning = parts.length === 0 ? 'nothing is due' : parts.join(', ')
  const low = unseen + retried
  return { low, high: low + worth, reasoning: `${reasoning}; ids that this run finds come on top` }
}

export function estimate(reading: Reading): Estimate {
  switch (reading.kind) {
    case 'key':
      return { low: 1, high: 2, reasoning: 'asked once a run, and again every 15 minutes' }
    case 'none':
      return { low: 0, high: 0, reasoning: reading.why }
    case 'unknown':
      return {
        low: 1,
        high: 1,
        reasoning: 'its size is not known: at least one request (leave out --offline)',
      }
    case 'backfill':
      return ofBackfill(reading)
    case 'between':
      return ofBetween(reading)
    case 'changes':
      return ofChanges(reading)
    case 'snapshot':
      return ofSnapshot(reading)
    case 'ids':
      return ofIds(reading)
    case 'ids to come':
      return {
        low: 0,
        high: reading.most,
        reasoning: `ids are found in what the lists bring: at most one ${reading.per}`,
      }
  }
}

export interface Limits {
  readonly perMinute: number
  /** What a sync may still spend today, reserves taken off. */
  readonly spendableToday: number
  /** What it may spend in a whole day. */
  readonly spendablePerDay: number
}

export interface Duration {
  /** At the key's limit a minute, days not counted in. */
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
