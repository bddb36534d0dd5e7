/** How the next structure of the warehouse will follow this one: a migration a version, run once. */

/**
 * The statements that bring a warehouse of the version before to this one, before the declared tables and columns are
 * added: whatever has another name or place. On DuckDB one migration must not update a table and rename it, because DuckDB
 * cannot read its log again after a crash in between.
 */
export interface Migration {
  readonly statements: readonly string[]
}

/** From version 1 on. A released one is never edited. */
export const migrations: readonly Migration[] = []

export const versionAfter = (all: readonly Migration[]): number => all.length + 1

/** The number of the structure: of its tables, their columns, and the words in them. A release raises it by a migration. */
export const schemaVersion = versionAfter(migrations)
