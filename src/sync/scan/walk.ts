/**
 * The reverse walk as arithmetic: which page to ask next, and when the walk is done.
 *
 * Sorted by updatedAt ascending, an update, insert or delete moves rows only towards lower positions or to the end.
 * Read from the last page to the first, unread rows can slide into pages still to be read: duplicates, never gaps.
 */
import { lastPage } from '../../api/client/paging.ts'

export interface WalkState {
  /** Page to ask next; 0 when the walk is done. */
  readonly nextPage: number
  /** Data pages of the walk, without the pages that only told where to begin. */
  readonly pages: number
  readonly greatestTotal: number
  /** Total when the first data page was read. */
  readonly firstTotal: number
  /** Greatest updatedAt on the first data page, as the service wrote it: the mark when the walk is complete. */
  readonly firstMark: string | null
  readonly lastTotal: number
}

/** What earlier walks have read: a walk over changes ends where it meets it. */
export interface Known {
  /** Everything older than this, in milliseconds since the epoch. */
  readonly before: number
  /** And everything of this very time, as the service writes it. */
  readonly at?: string
}

export interface Answer {
  readonly page: number
  readonly total: number
  readonly empty: boolean
  /** Smallest and greatest updatedAt on the page; absent when nobody looked or the page is empty. */
  readonly oldest?: string
  readonly newest?: string
  /** False when the rows are not in ascending order of updatedAt, so that an old row proves nothing. */
  readonly inOrder?: boolean
}

export function beginWalk(page: number): WalkState {
  return { nextPage: page, pages: 0, greatestTotal: 0, firstTotal: 0, firstMark: null, lastTotal: 0 }
}

/** Another walk over the same rows; the mark of the first one holds for all of them. */
export function walkAgain({ lastTotal, firstMark }: WalkState): WalkState {
  return { ...beginWalk(lastPage(lastTotal)), firstMark }
}

/** Whether every row before this page is known. Times finer than a millisecond count as equal where their texts are. */
function reachesKnown({ oldest, inOrder }: Answer, known: Known | undefined): boolean {
  if (known === undefined || oldest === undefined || inOrder === false) return false
  return Date.parse(oldest) < known.before || oldest === known.at
}

/** The state after an answer. A known row ends the walk: what lies below it was read before. */
export function advance(state: WalkState, answer: Answer, known?: Known): WalkState {
  const last = lastPage(answer.total)
  const seen = {
    ...state,
    lastTotal: answer.total,
    greatestTotal: Math.max(state.greatestTotal, answer.total),
  }
  // The remembered total was wrong: begin at the page that is the last one now.
  if (state.pages === 0 && answer.page !== last) return { ...seen, nextPage: last }
  // Deletions left the page beyond the end; what it held has slid below.
  if (answer.empty && answer.page > 1) return { ...seen, nextPage: Math.min(answer.page - 1, last) }
  const isFirst = state.pages === 0
  const firstMark = state.firstMark ?? (isFirst ? (answer.newest ?? null) : null)
  const firstTotal = isFirst ? answer.total : state.firstTotal
  const done = answer.page <= 1 || reachesKnown(answer, known)
  return { ...seen, pages: state.pages + 1, firstMark, firstTotal, nextPage: done ? 0 : answer.page - 1 }
}

/** Whether this answer is the first data page of its walk, whose newest row becomes the mark. */
export const isFirstDataPage = (state: WalkState, page: number, total: number): boolean =>
  state.pages === 0 && page === lastPage(total)

/**
 * How many ids must have been seen: in one walk, as many as the service ever claimed. Over several walks, in which a row
 * that one of them missed because it changed was seen by another, as many as there were when the last of them began: rows
 * that came later are newer than the mark.
 */
export const claimedTotal = (state: WalkState, attempt: number): number =>
  attempt === 1 ? state.greatestTotal : state.firstTotal

/** A whole walk read everything when it saw at least as many different ids as the service ever claimed to have. */
export const isComplete = (distinctIds: number, greatestTotal: number): boolean =>
  distinctIds >= greatestTotal
