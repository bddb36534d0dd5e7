/**
 * One pass over the pages of a list, as arithmetic: which page to ask next, and when the pass is over.
 *
 * Sorted by updatedAt ascending, an update, insert or delete moves rows only towards lower positions or to the end.
 * Read from the last page to the first, unread rows can slide into pages still to be read: duplicates, never gaps.
 */
import { lastPage } from '../../api/client/paging.ts'
import type { PassFigures } from './proof.ts'

export interface PassState {
  /** Page to ask next; 0 when the pass is over. */
  readonly nextPage: number
  /** Data pages of the pass, without the pages that only told where to begin. */
  readonly pages: number
  /** Total with the first data page. */
  readonly firstTotal: number
  /** Of data pages only. */
  readonly leastTotal: number
  readonly greatestTotal: number
  readonly lastTotal: number
  /** Greatest updatedAt on the first data page, as the service wrote it: the watermark when the scan is accepted. */
  readonly firstWatermark: string | null
  /** Rows on the data pages, where they are counted. */
  readonly rows: number
}

/** What earlier scans have read: an incremental scan ends where it meets it. */
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
  /** Rows on the page; absent when nobody counted. */
  readonly rows?: number
}

/** Lists without a change time are read from the first page to the last. */
export type PageOrder = 'last to first' | 'first to last'

export interface PassRules {
  readonly order?: PageOrder
  readonly known?: Known | undefined
}

export function beginPass(page: number): PassState {
  const totals = { firstTotal: 0, leastTotal: 0, greatestTotal: 0, lastTotal: 0 }
  return { nextPage: page, pages: 0, ...totals, firstWatermark: null, rows: 0 }
}

/** Another pass over the same rows; the watermark of the first one holds for all of them. */
export function nextPass({ lastTotal, firstWatermark }: PassState, order?: PageOrder): PassState {
  return { ...beginPass(order === 'first to last' ? 1 : lastPage(lastTotal)), firstWatermark }
}

/** Whether every row before this page is known. Times finer than a millisecond count as equal where their texts are. */
function reachesKnown({ oldest, inOrder }: Answer, known: Known | undefined): boolean {
  if (known === undefined || oldest === undefined || inOrder === false) return false
  return Date.parse(oldest) < known.before || oldest === known.at
}

/** Whether this answer is the first data page of its pass, whose newest row becomes the watermark. */
export const isFirstDataPage = (state: PassState, page: number, total: number): boolean =>
  state.pages === 0 && page === lastPage(total)

function withData(state: PassState, answer: Answer): PassState {
  const isFirst = state.pages === 0
  return {
    ...state,
    pages: state.pages + 1,
    rows: state.rows + (answer.rows ?? 0),
    firstTotal: isFirst ? answer.total : state.firstTotal,
    leastTotal: isFirst ? answer.total : Math.min(state.leastTotal, answer.total),
    firstWatermark: state.firstWatermark ?? (isFirst ? (answer.newest ?? null) : null),
  }
}

/** The state after an answer. A known row ends the pass: earlier scans have read what lies below it. */
export function advance(
  state: PassState,
  answer: Answer,
  { order = 'last to first', known }: PassRules = {},
): PassState {
  const last = lastPage(answer.total)
  const greatestTotal = Math.max(state.greatestTotal, answer.total)
  const seen = { ...state, lastTotal: answer.total, greatestTotal }
  if (order === 'first to last') {
    const isOver = answer.page >= lastPage(greatestTotal)
    return { ...withData(seen, answer), nextPage: isOver ? 0 : answer.page + 1 }
  }
  // The remembered total was wrong: begin at the page that is the last one now.
  if (state.pages === 0 && answer.page !== last) return { ...seen, nextPage: last }
  // Deletions left the page beyond the end; its rows have slid below.
  if (answer.empty && answer.page > 1) return { ...seen, nextPage: Math.min(answer.page - 1, last) }
  const isOver = answer.page <= 1 || reachesKnown(answer, known)
  return { ...withData(seen, answer), nextPage: isOver ? 0 : answer.page - 1 }
}

/** A second answer for the only page of a pass: one answer alone has no other to contradict it. */
export const confirm = (state: PassState, { total }: Answer): PassState => ({
  ...state,
  leastTotal: Math.min(state.leastTotal, total),
  greatestTotal: Math.max(state.greatestTotal, total),
})

type Seen = Pick<PassFigures, 'kind' | 'isWhole' | 'attempt' | 'distinctIds'> & Partial<PassFigures>

/** The figures of a pass for the proof. */
export function figuresOf(state: PassState, seen: Seen): PassFigures {
  const { pages, firstTotal, leastTotal, greatestTotal, lastTotal } = state
  return { pages, firstTotal, leastTotal, greatestTotal, lastTotal, ...seen }
}
