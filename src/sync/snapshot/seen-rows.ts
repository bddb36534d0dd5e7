/** What the passes of a snapshot have seen of each row, by its name. */
import { type Base, counts, type SeenId } from '../paging/proof.ts'

interface Sighting {
  readonly pass: number
  /** On the first page of its pass. */
  readonly isFront: boolean
}

/** In memory: the rows of a snapshot are read together. */
export class SeenRows {
  readonly #rows = new Map<string, SeenId>()

  /** `existedAt` in milliseconds since the epoch, where the row has a time of its own. */
  add(name: string, { pass, isFront }: Sighting, existedAt: number | null = null): void {
    const before = this.#rows.get(name)
    this.#rows.set(name, {
      firstPass: before?.firstPass ?? pass,
      lastPass: pass,
      frontPasses: isFront ? [...(before?.frontPasses ?? []), pass] : (before?.frontPasses ?? []),
      existedAt,
    })
  }

  count(base: Base): number {
    let counted = 0
    for (const row of this.#rows.values()) if (counts(row, base)) counted += 1
    return counted
  }

  figures(lastPass: number): { readonly ids: number; readonly inLastPass: number } {
    let inLastPass = 0
    for (const row of this.#rows.values()) if (row.lastPass === lastPass) inLastPass += 1
    return { ids: this.#rows.size, inLastPass }
  }
}
