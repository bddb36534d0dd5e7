/** Passes that begin again: the next one of a scan, and the same one with pages of another size. */
import { lastPage } from '../../api/client/paging.ts'
import { type Answer, beginPass, type PageOrder, type PassState, unknownEnd } from './pass-state.ts'
import { shown } from './shown.ts'

/** Begins a pass anew, with what the answers have shown so far. */
export function anew(state: PassState, page: number, size = state.size): PassState {
  const { number, usual, limit, longest, furthest, hollow, sizes, validSince, isShrunk } = state
  const { watermark, greatestTotal, lastTotal, isCapped } = state
  const kept = {
    usual,
    longest,
    furthest,
    hollow,
    sizes,
    watermark,
    greatestTotal,
    lastTotal,
    isCapped,
    validSince,
    isShrunk,
  }
  return { ...beginPass(page, size, limit), number: number + 1, ...kept }
}

/** The pass after this one; `size` when it asks for pages of another size. */
export function nextPass(state: PassState, order?: PageOrder, size = state.size): PassState {
  const page = order === 'first to last' ? 1 : lastPage(state.lastTotal, size)
  const next = { ...anew(state, page, size), sizes: 0 }
  if (size !== state.size) return { ...next, longest: 0, furthest: 0 }
  const { isSizeSearched } = state.end
  return { ...next, ended: state.last, end: { ...unknownEnd, isSizeSearched } }
}

/** A pass without an end proves nothing. */
export function withoutBase({ base: _, ...state }: PassState): PassState {
  return { ...state, voided: state.number }
}

/** So often a pass begins again with pages of another size: one that finds a new size each time would never end. */
const mostSizes = 4

/**
 * Begins the pass again with pages of another size. What a pass that asks for smaller pages finds does not tell how many rows
 * the service gives at most.
 */
export function resized(state: PassState, size: number, order: PageOrder | undefined): PassState {
  if (state.sizes >= mostSizes) return withoutBase({ ...state, nextPage: 0 })
  const next = anew(state, order === 'first to last' ? 1 : lastPage(state.lastTotal, size), size)
  const usual = state.size === state.usual ? size : state.usual
  const number = state.pages > 0 ? next.number : state.number
  // What contradicted the total may have been the wrong size.
  return { ...next, usual, number, sizes: state.sizes + 1, isCapped: false }
}

/**
 * The same where the service says nothing of a smaller size: from now on it is asked for no more rows than its pages have shown.
 * Pages that are cut short look like smaller ones, and the rows between them are on none. A pass over pages of another size ends
 * here.
 */
export function shrunk(
  state: PassState,
  {
    size,
    answer,
    order,
  }: { readonly size: number; readonly answer: Answer; readonly order?: PageOrder | undefined },
): PassState {
  const next =
    state.size === state.usual ? resized(state, size, order) : withoutBase({ ...state, nextPage: 0 })
  const validSince = next.nextPage === 0 ? state.number + 1 : next.number
  // Rows beyond the total at this size as well: it is too low.
  const isCapped = shown(answer, size) > answer.total
  return { ...next, usual: size, limit: size, validSince, isShrunk: true, isCapped }
}
