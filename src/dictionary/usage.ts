/** Lineage read backwards: which columns of views and marts are computed from a column. */
import { type Dictionary, qualifiedName } from './entries.ts'

/** Qualified names of columns, by the qualified name of what they are computed from. */
export function usersOf({ tables }: Dictionary): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>()
  for (const table of tables) {
    for (const column of table.columns) {
      const user = `${qualifiedName(table)}.${column.name}`
      for (const from of column.from) users.set(from, [...(users.get(from) ?? []), user])
    }
  }
  return users
}
