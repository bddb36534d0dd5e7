/** What answers show of the length of a list, whatever the service says of it. */
import type { Answer, PassState } from './pass-state.ts'

/** Rows up to the last one on the page: more than the total where the service claims too few. */
export const shown = ({ page, rows = 0 }: Answer, size: number): number =>
  rows === 0 ? 0 : (page - 1) * size + rows

/** Whether a page shows none of the rows that it has by the total of its own answer: the service hides them all. */
export const isHollow = ({ page, total, empty, limit }: Answer, size: number): boolean =>
  empty && (page - 1) * Math.min(size, limit ?? size) < total

/**
 * Rows of the list as far as its answers agree, so that a refused page after them is taken for an empty one. Undefined while the
 * end is looked for: a service that caps its total may refuse the pages after it, and a refusal proves no end.
 */
export function rowsAgreed({ end, isCapped, lastTotal }: PassState): number | undefined {
  const isSought = end.isBeyond || end.back !== undefined || end.tried !== undefined
  return isCapped || isSought ? undefined : lastTotal
}

/** Hollow pages in a row that a list may have. More look like a service that shows nothing at all. */
export const mostHollow = 10

/** What an answer shows whatever it is for: the longest page and the last one with rows, and the greatest total. */
export function withSight(state: PassState, answer: Answer): PassState {
  const { page, total, empty, rows = 0 } = answer
  return {
    ...state,
    said: total,
    hollow: isHollow(answer, state.size) ? state.hollow + 1 : 0,
    longest: Math.max(state.longest, rows),
    furthest: empty ? state.furthest : Math.max(state.furthest, page),
    greatestTotal: Math.max(state.greatestTotal, total),
  }
}

/** Whether rows lie beyond the total: on this page, or on one for which no answer gave enough. */
export function isBeyondTotal({ furthest, greatestTotal, size }: PassState, answer: Answer): boolean {
  return shown(answer, size) > answer.total || (furthest - 1) * size >= Math.max(1, greatestTotal)
}
