/** What is known of the mutants of a folder before they are tried. */

/** A file that only reads, writes and waits in an order, or is otherwise beyond a test in memory. It is not mutated. */
export interface Story {
  readonly file: string
  /** The test that fails when one of its steps is removed. */
  readonly test: string
}

/** A line whose removal a story notices: a sync to disk, a lock, a transaction. `npm run mutate:stories` plants it. */
export interface Slip {
  readonly file: string
  /** Occurs once in the file. */
  readonly before: string
  readonly after: string
  readonly test: string
  /** What would go wrong for a user. */
  readonly harm: string
}

/** A mutant that no test can kill because it changes nothing. */
export interface Equivalent {
  readonly file: string
  /** The line that it alters, without the space around it. */
  readonly line: string
  /** Absent: every mutant of the line. */
  readonly replacement?: string
  readonly reason: string
}

export interface Known {
  readonly stories?: readonly Story[]
  readonly slips?: readonly Slip[]
  readonly equivalents?: readonly Equivalent[]
}
