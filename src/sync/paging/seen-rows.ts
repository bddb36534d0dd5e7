/** What the passes of a scan have seen of each row, by its name, where its rows are in memory. */
import { type Base, counts, type SeenId } from './proof.ts'

interface Sighting {
  readonly pass: number
  /** On the first page of its pass. */
  readonly isFront: boolean
}

/** A snapshot is read together, and so is a scan of changes that finds nothing new. */
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

  count(base: Pick<Base, 'pass' | 'before'>): number {
    let counted = 0
    for (const row of this.#rows.values()) if (counts(row, base)) counted += 1
    return counted
  }

  /** Whether the row counts for the moment. */
  has(name: string, base: Pick<Base, 'pass' | 'before'>): boolean {
    const row = this.#rows.get(name)
    return row !== undefined && counts(row, base)
  }

  figures(lastPass: number): { readonly ids: number; readonly inLastPass: number } {
    let inLastPass = 0
    for (const row of this.#rows.values()) if (row.lastPass === lastPass) inLastPass += 1
    return { ids: this.#rows.size, inLastPass }
  }
}
