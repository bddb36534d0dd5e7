/** How far a walk through a window is, as the ledger tells it. */
import type { WindowTable } from '../../state/schema.ts'
import { beginWalk, type WalkState } from './walk.ts'

export interface Progress {
  state: WalkState
  attempt: number
  sequence: number
}

/** `beginAt` is the page for a window of which nothing is read yet. */
export function resumed(window: WindowTable, beginAt: number): Progress {
  const begun = Number(window.pages) > 0 || Number(window.loaded_sequence) > 0
  const state: WalkState = begun
    ? {
        nextPage: Number(window.next_page),
        pages: Number(window.pages),
        greatestTotal: Number(window.greatest_total),
        firstTotal: Number(window.greatest_total),
        firstMark: window.first_mark,
        lastTotal: Number(window.greatest_total),
      }
    : beginWalk(beginAt)
  return { state, attempt: Number(window.attempt), sequence: Number(window.loaded_sequence) }
}
