/** Records which passes of a scan saw each row, by name, for scans whose rows are in memory. */
import { counts, type PassStart, type SeenId } from './proof.ts'

interface RowSighting {
  readonly pass: number
  /** On the first page of its pass. */
  readonly isFront: boolean
}

/** Used by snapshots, and by incremental scans that find nothing new. */
export class SeenRows {
  readonly #rows = new Map<string, SeenId>()

  /** `existedAt` is in milliseconds since the epoch, if the row has its own time. */
  add(name: string, { pass, isFront }: RowSighting, existedAt: number | null = null): void {
    const before = this.#rows.get(name)
    this.#rows.set(name, {
      firstPass: before?.firstPass ?? pass,
      lastPass: pass,
      frontPasses: isFront ? [...(before?.frontPasses ?? []), pass] : (before?.frontPasses ?? []),
      existedAt,
    })
  }

  count(start: Pick<PassStart, 'pass' | 'before'>): number {
    let counted = 0
    for (const row of this.#rows.values()) if (counts(row, start)) counted += 1
    return counted
  }

  /** Whether the row counts for the pass start. */
  has(name: string, start: Pick<PassStart, 'pass' | 'before'>): boolean {
    const row = this.#rows.get(name)
    return row !== undefined && counts(row, start)
  }

  figures(lastPass: number): { readonly ids: number; readonly inLastPass: number } {
    let inLastPass = 0
    for (const row of this.#rows.values()) if (row.lastPass === lastPass) inLastPass += 1
    return { ids: this.#rows.size, inLastPass }
  }
}
