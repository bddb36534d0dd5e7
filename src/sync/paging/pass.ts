/**
 * One pass over the pages of a list, as arithmetic: which page to ask next, and when the pass is over.
 *
 * Sorted by time ascending, an update, insert or delete moves rows only towards lower positions or to the end. Read from the
 * last page to the first, unread rows can slide into pages still to be read: duplicates, never gaps. So a pass over a list
 * that changes usually proves itself; the proof does not rely on it.
 */
import { lastPage } from '../../api/client/paging.ts'
import { dayMs } from '../../lib/dates.ts'
import { anew, resized, shrunk, withoutBase } from './begin-again.ts'
import { findEnd, isLastAgain, searchSize } from './last-page.ts'
import { type Answer, type Known, type PassRules, type PassState, unknownEnd } from './pass-state.ts'
import { isBeyondTotal, isHollow, shown, withSight } from './shown.ts'
import { isLater } from './times.ts'

/** Our clock may be wrong, but not by this much. */
const clockErrorMs = dayMs

/**
 * Records with a time up to this one were in the list when the page with this watermark was answered: later ones get a later
 * time, or one that lies back by at most the lookback. A watermark of yesterday has no late records any more.
 */
function existedBefore(watermark: string | null, rules: PassRules): number | null {
  if (watermark === null) return null
  const { lookbackMs = 0, now = Number.NEGATIVE_INFINITY } = rules
  const at = Date.parse(watermark)
  return now - at > clockErrorMs + 2 * lookbackMs ? at : at - lookbackMs - 1
}

/** Whether every row before this page is known. */
function reachesKnown({ oldest, inOrder }: Answer, known: Known | undefined): boolean {
  if (known === undefined || inOrder === false) return false
  return Date.parse(oldest ?? '') < known.before
}

/** The pass begins with this page. */
function withFront(state: PassState, answer: Answer, rules: PassRules): PassState {
  const { newest } = answer
  const isNewer = newest !== undefined && (state.watermark === null || isLater(newest, state.watermark))
  const watermark = isNewer ? newest : state.watermark
  const before = existedBefore(watermark, rules)
  const base = { pass: state.number, front: answer.page, total: answer.total, before, watermark }
  // Pages that repeat each other show no end: nothing can be proved by them.
  if (state.end.isRepeated) return { ...state, role: 'before', watermark }
  return { ...state, role: 'front', watermark, base }
}

/** Rows that full pages lacked so far; undefined once a page was not counted. */
function lackingWith({ lacking, base, size }: PassState, { page, rows }: Answer): number | undefined {
  if (rows === undefined || lacking === undefined) return undefined
  const full = Math.min(size, (base?.total ?? 0) - (page - 1) * size)
  return lacking + Math.max(0, full - rows)
}

/** Rows of the pass with those of this page. */
const rowsWith = ({ rows, oldRows }: PassState, answer: Answer): Pick<PassState, 'rows' | 'oldRows'> => ({
  rows: rows === undefined || answer.rows === undefined ? undefined : rows + answer.rows,
  oldRows: oldRows + (answer.old ?? 0),
})

/** Rows of hollow pages above the first data page of a pass, which begins below them. */
const lackingAbove = ({ base, size }: PassState, { page }: Answer, { order }: PassRules): number =>
  order === 'first to last' || !base ? 0 : Math.max(0, base.total - page * size)

function withData(state: PassState, answer: Answer, rules: PassRules): PassState {
  const isFirst = state.pages === 0
  const begun = isFirst ? withFront(state, answer, rules) : { ...state, role: 'data' as const }
  const { base: before, size } = begun
  // A total that contradicts its own page may be a slip: then the greatest that any answer gave is needed.
  const least = Math.max(shown(answer, size), begun.isCapped ? begun.greatestTotal : 0)
  const base = before && { ...before, total: Math.max(before.total, least) }
  const isSecond = state.pages > 0 && state.last === answer.page
  const isWhole = answer.page === 1 || !reachesKnown(answer, rules.known)
  const counted = { ...begun, ...(base && { base }) }
  const above = isFirst ? lackingAbove(counted, answer, rules) : 0
  const lacking = isSecond ? state.lacking : lackingWith(counted, answer)
  return {
    ...counted,
    pages: state.pages + 1,
    last: answer.page,
    isSecond,
    lacking: lacking === undefined ? undefined : lacking + above,
    ...(!isSecond && rowsWith(state, answer)),
    isSteady: begun.isSteady && answer.total === base?.total,
    below: isWhole ? 0 : (answer.page - 1) * size + (answer.old ?? 0),
  }
}

/** Pages beyond the total are read up to so many, in case it is too low. */
const mostBeyond = 20

/** The page after a data page of a pass that goes forward; 0 when the pass is over. */
function pageForward({ greatestTotal, size, isCapped }: PassState, answer: Answer, seeksEnd = false): number {
  const { page, rows = 0 } = answer
  const isLast = !isCapped && !seeksEnd && page >= lastPage(greatestTotal, size) && rows < size
  const isEnd = rows === 0 && !isHollow(answer, size)
  return isLast || isEnd ? 0 : page + 1
}

const isEndless = ({ page, total }: Pick<Answer, 'page' | 'total'>, size: number): boolean =>
  page >= 2 * lastPage(total, size) + mostBeyond

/**
 * Whether the page where a scan of changes ends must be asked for again. The rows below the end are measured on that page: one
 * answer with the rows of another page would pass over changes for ever, unless it is the only page or nothing is new.
 */
function mustAskAgain({ pages, isSecond, watermark }: PassState, known: Known | undefined): boolean {
  const { reached } = known ?? {}
  return pages > 1 && !isSecond && (reached === undefined || Date.parse(watermark ?? '') > reached)
}

/** The page after a data page; 0 when the pass is over. */
function pageAfter(state: PassState, answer: Answer, { order, known, isShort, seeksEnd }: PassRules): number {
  if (state.end.isRepeated) return 0
  if (order === 'first to last') return pageForward(state, answer, seeksEnd)
  if (answer.page <= 1) return 0
  if (reachesKnown(answer, known)) return mustAskAgain(state, known) ? answer.page : 0
  if (!isShort || state.pages > 1) return answer.page - 1
  return known === undefined ? 0 : Math.min(answer.page - 1, Math.max(1, state.ended))
}

/** Goes on after `resized` where this answer is one of the new pass already. */
function resumedBy(again: PassState, answer: Answer, rules: PassRules): PassState {
  const isOther = rules.order === 'first to last' && answer.page > 1
  return again.nextPage === 0 || isOther ? again : advance(again, answer, rules)
}

/** A pass that goes forward sees by the page before whether the last one is shown again. */
const withLast = (state: PassState, { page, first, rows }: Answer, { order }: PassRules): PassState =>
  order === 'first to last' ? { ...state, end: { ...state.end, last: { page, first, rows } } } : state

/** Smaller pages that lack rows as well do not explain why rows lay beyond the total: it is too low. */
function withDoubt(state: PassState): PassState {
  if (!state.isShrunk || state.isCapped || !state.lacking) return state
  return { ...state, isCapped: true, validSince: state.number }
}

function dataPage(state: PassState, answer: Answer, rules: PassRules): PassState {
  const next = withDoubt(withLast(withData(state, answer, rules), answer, rules))
  const nextPage = pageAfter(next, answer, rules)
  if (rules.order === 'first to last' && isEndless(answer, next.size))
    return withoutBase({ ...next, nextPage: 0 })
  const page = rules.hidesRows ? undefined : searchSize(next, answer)
  if (page === undefined) return { ...next, nextPage }
  const size = answer.rows as number
  if (page <= (next.base?.front ?? 0)) return shrunk(next, { size, answer, order: rules.order })
  return { ...next, nextPage: page, end: { ...next.end, tried: { size, back: nextPage } } }
}

/** The answer to a page that only pages of a smaller size can have. */
function triedSize(state: PassState, answer: Answer, rules: PassRules): PassState {
  const { tried, ...end } = state.end
  if (!tried) return state
  if (answer.empty)
    return { ...state, role: 'before', nextPage: tried.back, end: { ...end, isSizeSearched: true } }
  return shrunk(state, { size: tried.size, answer, order: rules.order })
}

/**
 * The last page was full, did not reach the watermark, or was short beyond the total: nothing may lie beyond it. A short page
 * with another behind it is a full one, of smaller pages, where none has more rows.
 */
function probed(state: PassState, answer: Answer, rules: PassRules): PassState {
  const { back = 0, short = 0, last: _, ...end } = state.end
  const { missedEnds = 0, empty } = end
  if (answer.empty) return { ...state, role: 'before', nextPage: back, end }
  if (short > 0 && state.longest <= short)
    return { ...shrunk(state, { size: short, answer, order: rules.order }), voided: state.number }
  const again = { ...anew(state, answer.page), voided: state.number }
  const missed = {
    missedEnds: missedEnds + 1,
    full: answer.page - 1,
    empty: empty > answer.page ? empty : 0,
  }
  return advance({ ...again, end: { ...unknownEnd, isBeyond: true, ...missed } }, answer, rules)
}

/** The first page of the pass that counts is the last page of the list. */
function frontOrBefore(state: PassState, answer: Answer, rules: PassRules): PassState {
  const found = findEnd(state, answer, rules)
  if (found.ask !== undefined) return { ...state, role: 'before', nextPage: found.ask, end: found.end }
  const next = dataPage({ ...state, end: found.end }, answer, rules)
  if (!found.isProbed || next.end.tried) return next
  const { rows = 0 } = answer
  const short = rows < state.size ? { short: rows } : {}
  const last = { page: answer.page, first: answer.first }
  return { ...next, nextPage: answer.page + 1, end: { ...next.end, back: next.nextPage, last, ...short } }
}

/** Once rows lie beyond a total, the end has to be found by pages: a moment before that may have had more records than it says. */
function withContradiction(state: PassState, answer: Answer): PassState {
  if (state.isCapped || !isBeyondTotal(state, answer)) return state
  return { ...state, isCapped: true, validSince: state.number }
}

/** The last page is shown for the pages after it: the rows on those lie beyond no total. */
function endedBefore(state: PassState, order: PassRules['order']): PassState {
  if (order === 'first to last')
    return withoutBase({ ...state, nextPage: 0, isCapped: state.isCapped && state.validSince < state.number })
  return { ...resized(state, state.size, order), voided: state.number }
}

/** The state after an answer. A known row ends the pass: earlier scans have read what lies below it. */
export function advance(before: PassState, answer: Answer, rules: PassRules = {}): PassState {
  const { order } = rules
  if (isLastAgain(before, answer, order)) return endedBefore({ ...before, lastTotal: answer.total }, order)
  const state = withSight(before, answer)
  const said = answer.limit ?? state.size
  // One answer may be a slip: a smaller page is believed when two answers in a row say so.
  if (said < state.size && state.doubted !== said)
    return { ...state, role: 'before', nextPage: answer.page, doubted: said }
  // Rows on a page prove more than what is said of them.
  const size = Math.max(answer.rows ?? 0, Math.min(state.size, said))
  if (size !== state.size)
    return resumedBy(resized({ ...state, lastTotal: answer.total }, size, order), answer, rules)
  const lastTotal = Math.max(answer.total, shown(answer, size))
  const seen = withContradiction({ ...state, lastTotal }, answer)
  if (seen.end.tried) return triedSize(seen, answer, rules)
  if (seen.end.back !== undefined) return probed(seen, answer, rules)
  if (order === 'first to last') return dataPage(seen, answer, rules)
  if (state.pages === 0) return frontOrBefore(seen, answer, rules)
  // Deletions left the page beyond the end; its rows have slid below.
  if (answer.empty && answer.page > 1 && !isHollow(answer, size))
    return { ...seen, role: 'before', nextPage: lastPage(answer.total, size) }
  return dataPage(seen, answer, rules)
}

/** A second answer for the only page of a pass: one answer alone has no other to contradict it. */
export function confirm(state: PassState, answer: Answer): PassState {
  const { base, isCapped } = state
  if (!base) return state
  const total = Math.max(base.total, answer.total, shown(answer, state.size))
  return {
    ...state,
    base: { ...base, total },
    isCapped: isCapped || shown(answer, state.size) > answer.total,
  }
}
