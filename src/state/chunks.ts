/** PostgreSQL takes 65,535 parameters in a statement, and no row of the ledger has a hundred columns. */
const rowsPerStatement = 500

/** Rows in their order, as many together as one statement writes. */
export function* chunks<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += rowsPerStatement)
    yield items.slice(from, from + rowsPerStatement)
}
