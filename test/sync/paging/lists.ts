/** Answers, passes and pass starts of a list with pages of ten rows, for the rules of paging. */
import { advance } from '../../../src/sync/paging/pass.ts'
import {
  type Answer,
  beginPass,
  type End,
  type PassRules,
  type PassState,
  unknownEnd,
} from '../../../src/sync/paging/pass-state.ts'
import type { Base } from '../../../src/sync/paging/proof.ts'

export const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString()
export const ms = (minute: number): number => Date.parse(at(minute))

export const pass = (parts: Partial<PassState> = {}): PassState => ({ ...beginPass(1, 10, 10), ...parts })

export const answer = (parts: Partial<Answer> = {}): Answer => ({
  ...{ page: 1, total: 25, limit: 10, rows: 10, empty: false, first: `first of ${parts.page ?? 1}` },
  ...parts,
})

export const emptyAnswer = (parts: Partial<Answer> = {}): Answer => {
  const { first: _, ...rest } = answer({ rows: 0, empty: true, ...parts })
  return rest
}

export const base = (parts: Partial<Base> = {}): Base => ({
  ...{ pass: 1, front: 3, total: 25, before: null, watermark: null },
  ...parts,
})

export const end = (parts: Partial<End> = {}): End => ({ ...unknownEnd, ...parts })

/** The pass after these answers, from page 3 unless another state is given. */
export const passAfter = (
  answers: readonly Answer[],
  rules: PassRules = {},
  from = pass({ nextPage: 3 }),
): PassState => answers.reduce((state, one) => advance(state, one, rules), from)
