/** What the passes of a scan have come to in this run, for the judgement of the next one. */
import type { PassState } from './pass-state.ts'
import { type Base, isShuffled, type PassFigures, seenAndExpected } from './proof.ts'

export class PastPasses {
  /** Records that they lacked. */
  readonly lacks: number[] = []
  readonly #shown: { readonly ids: number; readonly total: number | undefined }[] = []
  #isShuffled = false

  /** Passes in a row that saw so many different ids and began with the same total, with one that sees them now. */
  stillWith(ids: number, base: Pick<Base, 'total'> | undefined): number {
    const changed = this.#shown.findLastIndex(one => one.ids !== ids || one.total !== base?.total)
    return this.#shown.length - changed
  }

  /** Whether this pass, or one before it, showed rows in another order than its answer before. */
  isShuffledWith(pass: PassState, inLastPass: number): boolean {
    return this.#isShuffled || isShuffled(pass, inLastPass)
  }

  /** At the end of a pass. */
  add(figures: PassFigures): void {
    const { seen, expected } = seenAndExpected(figures)
    this.lacks.push(expected - seen)
    this.#shown.push({ ids: figures.ids, total: figures.bases.at(-1)?.total })
    this.#isShuffled ||= figures.isShuffled ?? false
  }
}
