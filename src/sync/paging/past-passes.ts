/** What the passes of a scan have come to in this run, for the judgement of the next one. */
import type { PassState } from './pass-state.ts'
import { isShuffled, type PassFigures, seenAndExpected } from './proof.ts'

export class PastPasses {
  /** Records that they lacked. */
  readonly lacks: number[] = []
  readonly #ids: number[] = []
  #isShuffled = false

  /** Passes in a row that saw so many different ids, with one that sees them now. */
  stillWith(ids: number): number {
    return this.#ids.length - this.#ids.findLastIndex(one => one !== ids)
  }

  /** Whether this pass, or one before it, showed rows in another order than its answer before. */
  isShuffledWith(pass: PassState, inLastPass: number): boolean {
    return this.#isShuffled || isShuffled(pass, inLastPass)
  }

  /** At the end of a pass. */
  add(figures: PassFigures): void {
    const { seen, expected } = seenAndExpected(figures)
    this.lacks.push(expected - seen)
    this.#ids.push(figures.ids)
    this.#isShuffled ||= figures.isShuffled ?? false
  }
}
