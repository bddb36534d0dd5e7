/** Finds keys that are unique by construction, so that PostgreSQL can enforce them. */
import type { ChildTable, Table } from '../../contract/fields/table.ts'

export interface KeyedTable {
  readonly table: Table
  /** False if ids of list elements come from the service: a repeated id must not stop a load. */
  readonly isUnique: boolean
}

/** Columns that a derived key is made of. */
function partsOf(table: Table): string[] {
  const source = table.columns[table.key]?.source
  return source?.from === 'derived'
    ? [...source.sql.matchAll(/cast\((\w+) as/g)].map(([, name]) => name ?? '')
    : []
}

/** True for a key made of the unique parent key and the position in every list in between. */
function isMadeUnique({ table, lists, shape }: ChildTable, above: ReadonlySet<string>): boolean {
  const sources = partsOf(table).map(name => table.columns[name]?.source)
  const hasOwner = sources.some(
    source => (source?.from === 'root' || source?.from === 'parent') && above.has(source.column),
  )
  const positions = sources.filter(source => source?.from === 'ordinal').length
  return hasOwner && positions >= (shape === 'single' ? 0 : lists.length)
}

function below(table: Table, above: ReadonlySet<string>): KeyedTable[] {
  return table.children.flatMap(child => {
    const isUnique = isMadeUnique(child, above)
    const keys = new Set(isUnique ? [...above, child.table.key] : above)
    return [{ table: child.table, isUnique }, ...below(child.table, keys)]
  })
}

/** A record's table and all below it, parents first. */
export const keyedTables = (root: Table): KeyedTable[] => [
  { table: root, isUnique: true },
  ...below(root, new Set([root.key])),
]
