/**
 * Computes one pass over the pages of a list, without I/O: which page to request next, when the pass is over, and when
 * the service contradicts itself.
 *
 * When the list is sorted by time ascending, an update, insert or delete moves rows only to lower positions or to the
 * end. A pass that reads from the last page to the first may see such rows twice, but never misses one. So a pass over
 * a changing list usually proves itself; the proof does not rely on it.
 */
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import type { KnownTimes, PageFacts } from './page-facts.ts'
import type { PassStart } from './proof.ts'
import { isLater } from './times.ts'

/** The purpose of a response: to find where to begin, as the first data page of its pass, or as a later data page. */
export type Role = 'before' | 'front' | 'data'

export interface Pass {
  /** Counted from 1. */
  readonly number: number
  /** Page to request next; 0 when the pass is over. */
  readonly nextPage: number
  /** Rows requested for a page, and rows of a full page. */
  readonly size: number
  readonly sizeIs: SizeSource
  /** How often the last page turned out to be a different one, or the pass began again. */
  readonly sought: number
  /** Data pages received, without those that only showed where to begin. */
  readonly pages: number
  /** Last data page received; before the first one, that of the previous pass, or 0 if unknown. */
  readonly last: number
  readonly role: Role
  readonly start?: PassStart
  /** Latest updatedAt on the first data pages of all passes so far, as the service wrote it. */
  readonly watermark: string | null
  /** Total that the service reported last. */
  readonly lastTotal: number
  /** Every response of the pass reported the same total. */
  readonly isSteady: boolean
  /** Rows below the end of the pass that are older than the known time: earlier scans have read them. */
  readonly below: number
  /** Undefined once a page's rows were not counted. */
  readonly shown: ShownRows | undefined
  readonly probe?: Probe
  /** What the service reported and what it returned instead, for the message: the scan is refused. */
  readonly contradiction?: string
}

/**
 * Where the page size comes from: it was requested, inferred from the rows of a page, or confirmed by the service or a
 * full page. Only a requested size may still turn out different. With an inferred size, pages may not be short of rows:
 * a list that hides rows and reports too low a total would look the same.
 */
type SizeSource = 'asked' | 'inferred' | 'known'

interface ShownRows {
  readonly rows: number
  /** Rows that are older than what is known. */
  readonly old: number
  /** Rows that pages should have had by the total, but did not. */
  readonly missing: number
}

/** A page requested only because it should be empty. */
interface Probe {
  /** Page to request next if this one is empty. */
  readonly back: number
  /** Set when the page can only exist if pages have this many rows. */
  readonly size?: number
  /**
   * Set when the previous page returned more rows than its total. If this page is empty, no smaller size explains them.
   */
  readonly otherwise?: { readonly rows: number; readonly words: string }
  /** Set when the page after `back` was requested as the last one, and had no rows. */
  readonly isHollow?: boolean
}

/** Lists without a change time are read from the first page to the last. */
export type PageOrder = 'last to first' | 'first to last'

export interface PassRules {
  readonly order?: PageOrder
  readonly known?: KnownTimes | undefined
  /** How long after its time a record can appear, in milliseconds; see `existedBefore`. */
  readonly lookbackMs?: number
  /** Reads only the last page, and the page where the previous pass ended. */
  readonly isShort?: boolean
  /** Requests the page after the last one, even if the total says there is none. */
  readonly seeksEnd?: boolean
  /** The list is known to hide rows that it counts: short or empty pages say nothing about the page size. */
  readonly hidesRows?: boolean
  /** By the service's clock, in milliseconds since the epoch; undefined when unknown. */
  readonly now?: number | undefined
}

export function beginPass(page: number, size: number = pageLimit): Pass {
  return {
    number: 1,
    nextPage: page,
    size,
    sizeIs: 'asked',
    sought: 0,
    pages: 0,
    last: 0,
    role: 'before',
    watermark: null,
    lastTotal: 0,
    isSteady: true,
    below: 0,
    shown: { rows: 0, old: 0, missing: 0 },
  }
}

/** The pass that the last page belongs to. A page that only showed where to begin belongs to the previous pass. */
export function seenIn({ number, role }: Pass): { readonly pass: number; readonly isFront: boolean } {
  return { pass: role === 'before' ? number - 1 : number, isFront: role === 'front' }
}

const firstPage = ({ lastTotal }: Pass, size: number, order: PageOrder | undefined): number =>
  order === 'first to last' ? 1 : lastPage(lastTotal, size)

/** The next pass, with pages of this size. */
export function nextPass(pass: Pass, order?: PageOrder, size = pass.size): Pass {
  const { number, watermark, lastTotal, last } = pass
  const sizeIs = size === pass.size ? pass.sizeIs : 'asked'
  const nextState = { number: number + 1, watermark, lastTotal, last, sizeIs } as const
  return { ...beginPass(firstPage(pass, size, order), size), ...nextState }
}

/**
 * Number of rows that the responses so far agree on, so that a refused page after them counts as empty. Undefined for a
 * probe: a service that caps its total may refuse later pages, so a refusal does not prove the end.
 */
export const rowsAgreed = ({ probe, lastTotal }: Pass): number | undefined => (probe ? undefined : lastTotal)

/** Rows that the page should have by its own total. */
const expectedRows = ({ page, total }: PageFacts, size: number): number =>
  Math.max(0, Math.min(size, total - (page - 1) * size))

const contradicted = (pass: Pass, contradiction: string): Pass => ({ ...pass, nextPage: 0, contradiction })

/** Rows of the list up to the last one on the page. */
const rowsUpTo = ({ page, rows = 0 }: PageFacts, size: number): number =>
  rows === 0 ? 0 : (page - 1) * size + rows

const beyondTotal = (page: PageFacts, size: number): string =>
  `page ${page.page} showed ${formatNumber(rowsUpTo(page, size))} rows of a list of ${formatNumber(page.total)}`

const emptyWithin = ({ page, total }: PageFacts): string =>
  `page ${page} was empty although the list has ${formatNumber(total)} rows`

/** The local clock may be wrong, but not by this much. */
const clockErrorMs = dayMs

/**
 * Records with a time up to this one were in the list when the page with this watermark was returned. Later records get
 * a later time, or one that is earlier by at most the lookback. More than a day later, no late records come any more.
 */
function existedBefore(watermark: string | null, rules: PassRules): number | null {
  if (watermark === null) return null
  const { lookbackMs = 0, now = Number.NEGATIVE_INFINITY } = rules
  const at = Date.parse(watermark)
  return now - at > clockErrorMs + 2 * lookbackMs ? at : at - lookbackMs - 1
}

/** Starts the pass with this page. */
function started(pass: Pass, { page: front, total, newest }: PageFacts, rules: PassRules): Pass {
  const isNewer = newest !== undefined && (pass.watermark === null || isLater(newest, pass.watermark))
  const watermark = isNewer ? newest : pass.watermark
  const start = { pass: pass.number, front, total, before: existedBefore(watermark, rules), watermark }
  return { ...pass, role: 'front', watermark, start }
}

/** Whether every row before this page is known. */
function reachesKnown({ oldest, inOrder }: PageFacts, known: KnownTimes | undefined): boolean {
  if (known === undefined || inOrder === false) return false
  return Date.parse(oldest ?? '') < known.before
}

function shownWith(pass: Pass, page: PageFacts, { order }: PassRules): ShownRows | undefined {
  const { shown, size, start } = pass
  if (!shown || page.rows === undefined) return undefined
  const total = start?.total ?? 0
  // If the pass starts before the last page, none of that page's rows were returned.
  const above = pass.pages === 0 && order !== 'first to last' ? Math.max(0, total - page.page * size) : 0
  const missing = above + Math.max(0, expectedRows({ ...page, total }, size) - page.rows)
  return {
    rows: shown.rows + page.rows,
    old: shown.old + (page.old ?? 0),
    missing: shown.missing + missing,
  }
}

/** Whether the page is requested twice in a row: an incremental scan ends with the second response. */
const isSecond = ({ pages, last }: Pass, { page }: PageFacts): boolean => pages > 0 && last === page

/**
 * Whether the page where an incremental scan ends must be requested again. The rows below the end are measured on that
 * page: a single response with the rows of another page would skip changes forever. Not needed for the only page, or if
 * nothing is new.
 */
function mustAskAgain(pass: Pass, page: PageFacts, { reached }: KnownTimes): boolean {
  const isNew = reached === undefined || Date.parse(pass.watermark ?? '') > reached
  return pass.pages > 0 && !isSecond(pass, page) && isNew
}

/** The page after a data page; 0 when the pass is over. */
function pageAfter(pass: Pass, page: PageFacts, { known, isShort }: PassRules): number {
  if (page.page <= 1) return 0
  if (known && reachesKnown(page, known)) return mustAskAgain(pass, page, known) ? page.page : 0
  if (!isShort || pass.pages > 0) return page.page - 1
  return known ? Math.min(page.page - 1, Math.max(1, pass.last)) : 0
}

/** The same for a pass that goes forward: a full page may not be the last one. */
function pageForward({ size }: Pass, page: PageFacts, { seeksEnd = false }: PassRules): number {
  const isLast = page.page >= lastPage(page.total, size) && (page.rows ?? 0) < size && !seeksEnd
  return page.empty || isLast ? 0 : page.page + 1
}

/** Adds a data page to the pass, which its first data page has started. */
function counted(pass: Pass, page: PageFacts, rules: PassRules): Pass {
  const isFull = page.page === 1 || !reachesKnown(page, rules.known)
  const isForward = rules.order === 'first to last'
  const isBehindLast = isForward && page.page > 1 && page.page >= lastPage(page.total, pass.size)
  return {
    ...pass,
    nextPage: isForward ? pageForward(pass, page, rules) : pageAfter(pass, page, rules),
    // A full last page with yet another one behind it, page after page, is no end either.
    sought: isBehindLast ? pass.sought + 1 : pass.sought,
    sizeIs: pass.sizeIs === 'asked' && page.rows === pass.size ? 'known' : pass.sizeIs,
    pages: pass.pages + 1,
    last: page.page,
    role: pass.pages === 0 ? pass.role : 'data',
    shown: isSecond(pass, page) ? pass.shown : shownWith(pass, page, rules),
    isSteady: pass.isSteady && page.total === pass.start?.total,
    below: isFull ? 0 : (page.page - 1) * pass.size + (page.old ?? 0),
  }
}

/**
 * The page that shows whether pages are as short as this one: if they are not, it is empty. Undefined when there is no
 * such page.
 */
function sizeProbe({ size, sizeIs }: Pass, page: PageFacts, rules: PassRules): number | undefined {
  const { rows = 0, total } = page
  const isOdd = rows > 0 && rows < size && rows !== expectedRows(page, size)
  if (!isOdd || sizeIs !== 'asked' || rules.hidesRows) return undefined
  const last = lastPage(total, rows)
  return last > Math.max(page.page, lastPage(total, size)) ? last : undefined
}

function dataPage(pass: Pass, page: PageFacts, rules: PassRules): Pass {
  const { rows } = page
  const last = lastPage(page.total, pass.size)
  // The last page may consist of hidden rows only. Other pages may not, nor the only page of a list that has hidden
  // none.
  const isHollow = page.empty && page.total > 0 && (page.page < last || page.page === 1)
  if (isHollow && !rules.hidesRows) return contradicted(pass, emptyWithin(page))
  const isBeyond = (rows ?? 0) > expectedRows(page, pass.size)
  const otherwise = { rows: rowsUpTo(page, pass.size), words: beyondTotal(page, pass.size) }
  const probe = sizeProbe(pass, page, rules)
  if (isBeyond && probe === undefined) return contradicted(pass, otherwise.words)
  if (pass.sizeIs === 'inferred' && rows !== undefined && rows < expectedRows(page, pass.size))
    return contradicted(pass, otherSize(pass.size, page.page, rows))
  const next = counted(pass.pages === 0 ? started(pass, page, rules) : pass, page, rules)
  if (probe === undefined || rows === undefined) return next
  return {
    ...next,
    nextPage: probe,
    probe: { back: next.nextPage, size: rows, ...(isBeyond && { otherwise }) },
  }
}

/** The first data page of a backward pass. Probes for a page behind it if it is full or does not reach the watermark. */
function frontPage(pass: Pass, page: PageFacts, rules: PassRules): Pass {
  const next = dataPage(pass, page, rules)
  const { known, seeksEnd = false } = rules
  const isBehind = known?.reached !== undefined && Date.parse(page.newest ?? '') < known.reached
  const isDoubtful = (page.rows ?? 0) >= pass.size || isBehind || seeksEnd
  if (next.probe || next.contradiction || !isDoubtful || page.empty) return next
  return { ...next, nextPage: page.page + 1, probe: { back: next.nextPage } }
}

/** Handles a page before the first data page: it becomes that page, or shows which page to try. */
function soughtEnd(pass: Pass, page: PageFacts, rules: PassRules): Pass {
  const last = lastPage(page.total, pass.size)
  const ask = (nextPage: number): Pass => ({ ...pass, role: 'before', nextPage, sought: pass.sought + 1 })
  if (page.page === last && (!page.empty || last === 1)) return frontPage(pass, page, rules)
  if (page.page > last && !page.empty) return behindLast(pass, page)
  if (page.page > last || !page.empty) return ask(last)
  if (page.page < last) return rules.hidesRows ? ask(last) : contradicted(pass, emptyWithin(page))
  return { ...ask(page.page - 1), probe: { back: page.page - 1, isHollow: true } }
}

/** Handles the page before an empty last one: the pass starts with it, unless the list has changed. */
function afterHollow(pass: Pass, page: PageFacts, rules: PassRules): Pass {
  const isBeforeLast = page.page === lastPage(page.total, pass.size) - 1
  return isBeforeLast ? dataPage(pass, page, rules) : soughtEnd(pass, page, rules)
}

/** Begins again with a different page size, or behind a page that was not the last one. */
function again(pass: Pass, size: number, order?: PageOrder): Pass {
  const { number, pages, sought } = pass
  return { ...nextPass(pass, order, size), number: pages > 0 ? number + 1 : number, sought: sought + 1 }
}

const otherSize = (size: number, page: number, found: number): string =>
  `pages had ${formatNumber(size)} rows, and page ${page} of the same list ${formatNumber(found)}`

interface FoundSize extends Pick<Pass, 'size' | 'sizeIs'> {
  /** The page that shows this size. */
  readonly page: number
}

/** Begins again with a different page size. */
function resized(pass: Pass, { size, sizeIs, page }: FoundSize, order?: PageOrder): Pass {
  // The service may report an even smaller size later; an inferred size must not change.
  const isSaid = sizeIs === 'known' && size < pass.size
  if (pass.sizeIs !== 'asked' && !isSaid) return contradicted(pass, otherSize(pass.size, page, size))
  return { ...again(pass, size, order), sizeIs }
}

/** Handles a page behind the last one: either pages are smaller, or the total is too low. */
function behindLast(pass: Pass, page: PageFacts): Pass {
  const { rows = 0, total } = page
  const isSmaller = rows > 0 && rows < pass.size && page.page <= lastPage(total, rows)
  if (isSmaller && pass.sizeIs === 'asked')
    return resized(pass, { size: rows, sizeIs: 'inferred', page: page.page })
  return contradicted(pass, beyondTotal(page, pass.size))
}

function probed(pass: Pass, page: PageFacts, { probe, rules }: { probe: Probe; rules: PassRules }): Pass {
  const { back, size, otherwise } = probe
  if (probe.isHollow) return afterHollow(pass, page, rules)
  if (page.empty && otherwise) {
    // A row may have been added between the count and the page: then this total includes it.
    const isCovered = page.total >= otherwise.rows
    return isCovered ? again(pass, pass.size, rules.order) : contradicted(pass, otherwise.words)
  }
  if (page.empty)
    return { ...pass, role: 'before', nextPage: back, sizeIs: size === undefined ? pass.sizeIs : 'known' }
  if (size !== undefined && rowsUpTo(page, size) > page.total)
    return contradicted(pass, beyondTotal(page, size))
  if (size !== undefined) return resized(pass, { size, sizeIs: 'inferred', page: page.page }, rules.order)
  // The list has grown, or contradicts its total.
  return soughtEnd(again(pass, pass.size), page, rules)
}

/** If the end moves with each of this many responses, two copies of the service are returning different lists in turn. */
const maxSought = 20

const neverLast = ({ page, total }: PageFacts): string =>
  `the end of the list moved with each of ${maxSought} answers, up to page ${page} with a total of ${formatNumber(total)}`

/** Advances the pass by one response. It ends at a known row: earlier scans have read everything below. */
export function advance(before: Pass, page: PageFacts, rules: PassRules = {}): Pass {
  const { probe, ...rest } = before
  const pass: Pass = { ...rest, lastTotal: page.total }
  if (pass.sought >= maxSought) return contradicted(pass, neverLast(page))
  if (probe) return probed(pass, page, { probe, rules })
  // Rows on a page prove more than the limit it reports.
  const size = Math.max(page.rows ?? 0, Math.min(pass.size, page.limit ?? pass.size))
  const { order } = rules
  if (size !== pass.size) {
    const next = resized(pass, { size, sizeIs: 'known', page: page.page }, order)
    const isFirst = order !== 'first to last' || page.page === 1
    return next.contradiction === undefined && isFirst ? advance(next, page, rules) : next
  }
  if (order === 'first to last') return dataPage(pass, page, rules)
  if (pass.pages === 0) return soughtEnd(pass, page, rules)
  const last = lastPage(page.total, size)
  // Deletions moved the end before this page; its rows have slid below.
  if (page.empty && page.page > last) return { ...pass, role: 'before', nextPage: last }
  return dataPage(pass, page, rules)
}

/**
 * Advances the pass after a second response, since the first contradicted itself: a service that counts before it reads
 * may return one row more than it counted. The second total must cover the rows of the first response.
 */
export function advanceAgain(
  before: Pass,
  { first, second }: { readonly first: PageFacts; readonly second: PageFacts },
  rules: PassRules,
): Pass {
  const isCounted = second.total >= rowsUpTo(first, before.probe?.size ?? before.size)
  return advance(before, isCounted ? second : first, rules)
}

/** Checks the only page of a pass against a second response, since no other page could contradict it. */
export function confirm(pass: Pass, page: PageFacts): Pass {
  if (!pass.start) return pass
  if ((page.rows ?? 0) > expectedRows(page, pass.size))
    return contradicted(pass, beyondTotal(page, pass.size))
  return { ...pass, start: { ...pass.start, total: Math.max(pass.start.total, page.total) } }
}
