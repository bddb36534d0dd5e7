/** Answers, passes and pass starts of a list with pages of ten rows, for the rules of paging. */
import type { PageFacts } from '../../../src/sync/paging/page-facts.ts'
import { advance, beginPass, type Pass, type PassRules } from '../../../src/sync/paging/pass.ts'
import type { PassStart } from '../../../src/sync/paging/proof.ts'

export const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString()
export const ms = (minute: number): number => Date.parse(at(minute))

export const pass = (parts: Partial<Pass> = {}): Pass => ({ ...beginPass(1, 10), ...parts })

export const answer = (parts: Partial<PageFacts> = {}): PageFacts => ({
  ...{ page: 1, total: 25, limit: 10, rows: 10, empty: false },
  ...parts,
})

export const emptyAnswer = (parts: Partial<PageFacts> = {}): PageFacts =>
  answer({ rows: 0, empty: true, ...parts })

export const start = (parts: Partial<PassStart> = {}): PassStart => ({
  ...{ pass: 1, front: 3, total: 25, before: null, watermark: null },
  ...parts,
})

/** The pass after these answers, from page 3 unless another state is given. */
export const passAfter = (
  answers: readonly PageFacts[],
  rules: PassRules = {},
  from = pass({ nextPage: 3 }),
): Pass => answers.reduce((state, one) => advance(state, one, rules), from)
