/** A column of a mart's table, which its statement makes or which the build computes beside it. */
import type { MartColumn } from './mart.ts'

/** How the build computes a column from a row that the statement made, which is called `made`. */
export interface Computation {
  readonly select: string
  readonly join?: string
  /** A query of one row that the join names; a server would else ask it anew for every row whose number it guesses as one. */
  readonly once?: { readonly name: string; readonly query: string }
  /** Columns that it is computed from, with their tables. */
  readonly from: readonly string[]
  /** Table of star that it reads. */
  readonly reads: readonly string[]
}

export interface TableColumn extends MartColumn {
  readonly computed?: Computation
}
