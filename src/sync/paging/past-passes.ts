/** What the passes of a scan have come to in this run, for the judgement of the next one. */
import type { PassState } from './pass-state.ts'
import { isShuffled, type PassFigures, seenAndExpected } from './proof.ts'

type Paging = Pick<PassState, 'base' | 'size' | 'usual' | 'limit'>

export class PastPasses {
  /** Records that they lacked. */
  readonly lacks: number[] = []
  readonly #shown: { readonly ids: number; readonly total: number | undefined; readonly size: number }[] = []
  #isShuffled = false

  /**
   * Passes in a row that saw so many different ids and began with the same total, with one that sees them now. It counts alone
   * while none of them had pages of another size, where the service gives such pages.
   */
  stillWith(ids: number, { base, size, usual, limit }: Paging): number {
    const changed = this.#shown.findLastIndex(one => one.ids !== ids || one.total !== base?.total)
    const others = this.#shown.slice(changed + 1)
    return usual !== limit || others.some(one => one.size !== size) ? others.length + 1 : 1
  }

  /** Whether this pass, or one before it, showed rows in another order than its answer before. */
  isShuffledWith(pass: PassState, inLastPass: number): boolean {
    return this.#isShuffled || isShuffled(pass, inLastPass)
  }

  /** At the end of a pass. */
  add(figures: PassFigures, { size }: Pick<PassState, 'size'>): void {
    const { seen, expected } = seenAndExpected(figures)
    this.lacks.push(expected - seen)
    this.#shown.push({ ids: figures.ids, total: figures.bases.at(-1)?.total, size })
    this.#isShuffled ||= figures.isShuffled ?? false
  }
}
