/** Finds the last page of a list, whether or not the service tells the truth about its total and its pages. */
import { lastPage } from '../../api/client/paging.ts'
import type { Answer, End, PageOrder, PassRules, PassState, SeenPage } from './pass-state.ts'

interface Found {
  /** Page to ask before the pass can begin; undefined when this answer is its first data page. */
  readonly ask?: number
  readonly end: End
  /** Whether the page after this one must be asked, because nothing shows that the list ends here. */
  readonly isProbed: boolean
}

const ask = (page: number, end: End): Found => ({ ask: page, end, isProbed: false })
const front = (end: End, isProbed = false): Found => ({ end, isProbed })

/**
 * The page to ask to learn whether pages have as few rows as this one: it is empty unless they do. Undefined when the page is
 * full or no page could tell.
 */
export function searchSize(
  { size, longest, base, end }: PassState,
  { page, total, rows = 0 }: Answer,
): number | undefined {
  if (rows === 0 || rows < longest || end.isSizeSearched) return undefined
  const all = Math.max(total, base?.total ?? 0)
  if (rows >= Math.min(size, all - (page - 1) * size)) return undefined
  const last = lastPage(all, rows)
  return last > lastPage(all, size) ? last : undefined
}

/** No list has so many pages: its last one is shown for every page after it, with its rows in another order each time. */
const mostPages = 2 ** 24

/** A list that answers the same rows for different pages has no end. */
const isRepeated = ({ full, first }: End, answer: Answer): boolean =>
  answer.page > mostPages || (full !== answer.page && first !== undefined && first === answer.first)

/** A list that grows shows this many short pages with another one behind; where there are more, a short page tells nothing. */
const fewMissedEnds = 2

/**
 * Rows beyond the total: pages further on until one is not full, then between a full and an empty one. A short page is the last
 * one only where the next is empty: a total that is too low cannot tell that it lacks rows.
 */
function beyond(end: End, answer: Answer, isFull: boolean): Found {
  const { page, first, rows = 0 } = answer
  if (isRepeated(end, answer)) return front({ ...end, isBeyond: true, isRepeated: true })
  const { missedEnds = 0 } = end
  if (!isFull && (rows === 0 || missedEnds <= fewMissedEnds)) return front({ ...end, isBeyond: true }, true)
  const found = { ...end, isBeyond: true, full: page, ...(first !== undefined && { first }) }
  if (end.empty === page + 1) return front(found, true)
  if (end.empty > page) return ask(Math.floor((page + end.empty) / 2), found)
  // Each step is twice as far as the one before.
  return ask(page + (end.full === 0 ? 1 : 2 * (page - end.full)), found)
}

/**
 * Whether this page and the one asked before it, both after the last one by the total, show the last one again: the list ends
 * where the total says. Of a page within the total the same proves no end, as a service may cap its total and its pages alike.
 */
export function isLastAgain(
  { size, end }: PassState,
  { page, first, rows, total }: Answer,
  order?: PageOrder,
): boolean {
  const before: SeenPage = end.last ?? { page: end.full, first: end.first }
  if (before.first === undefined || before.first !== first || before.page === page) return false
  // Tied records may begin two pages by chance. Further on, a pass that goes forward has seen other rows beyond the total.
  const isOther = before.rows !== rows || before.page !== lastPage(total, size) + 1
  if (order === 'first to last' && isOther) return false
  return (Math.min(before.page, page) - 1) * size >= total
}

function emptyPage({ size, end }: PassState, { page, total }: Answer): Found {
  if (page === 1) return front(end)
  const known = { ...end, empty: page }
  if (!end.isBeyond || end.full >= page) return ask(Math.min(page - 1, lastPage(total, size)), known)
  return ask(Math.floor((end.full + page) / 2), known)
}

/** Whether the page has the rows of the one asked before it: a pass that began there would count the rows below it wrongly. */
const isGuessAgain = ({ guess }: End, { page, first }: Answer): boolean =>
  guess !== undefined && guess.page !== page && first !== undefined && guess.first === first

/** Whether an answer before the first data page is that page, and which page to ask if not. */
export function findEnd(state: PassState, answer: Answer, rules: PassRules): Found {
  const { known, hidesRows, seeksEnd = false } = rules
  const { size, end, isCapped } = state
  const { page, total, rows = 0 } = answer
  if (answer.empty) return emptyPage(state, answer)
  if (isGuessAgain(end, answer)) return ask(page, { ...end, guess: { page, first: answer.first } })
  const isFull = rows >= size
  if (end.isBeyond || isCapped || (page - 1) * size + rows > total) return beyond(end, answer, isFull)
  const last = lastPage(total, size)
  // The remembered total was wrong, unless that page was empty.
  if (page !== last && (end.empty === 0 || last < end.empty))
    return ask(last, { ...end, guess: { page, first: answer.first } })
  const longer = hidesRows ? undefined : searchSize(state, answer)
  if (longer !== undefined) return ask(longer, { ...end, tried: { size: rows, back: page } })
  const isBehind = known?.reached !== undefined && Date.parse(answer.newest ?? '') < known.reached
  return front(end, isFull || isBehind || seeksEnd)
}
