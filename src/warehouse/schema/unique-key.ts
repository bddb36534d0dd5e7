/** Which keys cannot occur twice by the way they are made, so that PostgreSQL may insist on it. */
import type { Child, Table } from '../../contract/fields/table.ts'

export interface Place {
  readonly table: Table
  /** False where the service gives out the ids of list elements: one that it gives twice must not stop a load. */
  readonly isUnique: boolean
}

/** Columns that a derived key is made of. */
function partsOf(table: Table): string[] {
  const source = table.columns[table.key]?.source
  return source?.from === 'derived'
    ? [...source.sql.matchAll(/cast\((\w+) as/g)].map(([, name]) => name ?? '')
    : []
}

/** The key of what is above, which is unique, and a position in every list between. */
function isMadeUnique({ table, lists, shape }: Child, above: ReadonlySet<string>): boolean {
  const sources = partsOf(table).map(name => table.columns[name]?.source)
  const hasOwner = sources.some(
    source => (source?.from === 'root' || source?.from === 'parent') && above.has(source.column),
  )
  const positions = sources.filter(source => source?.from === 'ordinal').length
  return hasOwner && positions >= (shape === 'single' ? 0 : lists.length)
}

function below(table: Table, above: ReadonlySet<string>): Place[] {
  return table.children.flatMap(child => {
    const isUnique = isMadeUnique(child, above)
    const keys = new Set(isUnique ? [...above, child.table.key] : above)
    return [{ table: child.table, isUnique }, ...below(child.table, keys)]
  })
}

/** A record's table and all below it, parents first. */
export const placesOf = (root: Table): Place[] => [
  { table: root, isUnique: true },
  ...below(root, new Set([root.key])),
]
