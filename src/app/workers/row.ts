/** Rows of an input file, and what could not be read as a row. */
import type { Problem } from './problem.ts'

export interface Row {
  readonly row: number
  readonly value: unknown
}

export interface Rows {
  readonly rows: readonly Row[]
  readonly problems: readonly Problem[]
}
