/** Rows of an input file as they are found, and the mistakes in it. */
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'

export interface Row {
  readonly row: number
  /** A line is parsed at each call, as the values of many would fill the memory. */
  read(): unknown
}

/** A mistake in an input file, told without the value, which may be personal. */
export interface Problem {
  /** As a spreadsheet or an editor counts it, from 1. */
  readonly row: number
  /** Path of the field; empty when the problem is the row itself. */
  readonly field: string
  readonly what: string
}

export interface Rows {
  readonly rows: readonly Row[]
  readonly problems: readonly Problem[]
}

/** Of one file. */
const mostRows = 100_000

/** Rows of a file as they are found, up to the most that one may have. */
export class RowList implements Rows {
  readonly rows: Row[] = []
  readonly problems: Problem[] = []
  readonly #shown: string

  /** `shown` is the file as the user named it. */
  constructor(shown: string) {
    this.#shown = shown
  }

  add(row: Row): void {
    this.rows.push(row)
    this.#requireFew()
  }

  refuse(problem: Problem): void {
    this.problems.push(problem)
    this.#requireFew()
  }

  /** Throws UsageError. */
  #requireFew(): void {
    if (this.rows.length + this.problems.length <= mostRows) return
    throw new UsageError({
      what: `${this.#shown} has more than ${counted(mostRows, 'row')}`,
      next: 'split it into several files',
    })
  }
}
