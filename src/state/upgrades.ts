/** What earlier versions named or wrote otherwise, and the statements that bring it to the declarations. */

export interface Upgrade {
  /** A table or column that only earlier versions made, such as `ops.watermark.mark`. */
  readonly found: string
  readonly statements: readonly string[]
}

/** Run before the declared tables are made, so that what has only a new name keeps its rows. */
export const renames: readonly Upgrade[] = []

/**
 * Run after the declared tables are made: rows that move into other tables, and words that changed. In a transaction of
 * their own: DuckDB cannot alter a table that the same transaction has written.
 */
export const conversions: readonly Upgrade[] = []
