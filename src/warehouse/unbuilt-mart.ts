/** A mart that `sql/mart` declares and nobody has built yet: engines answer a query for it with some other table's name. */
import { MusterError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'

/** What a query that named `mart.NAME` is told; undefined when there is no such mart. */
export function unbuiltMart(name: string, next = 'run muster build'): MusterError | undefined {
  if (!sqlFiles('mart').some(file => file.name === `mart/${name}.sql`)) return undefined
  return new MusterError({ what: `mart.${name} is declared but not built`, next })
}
