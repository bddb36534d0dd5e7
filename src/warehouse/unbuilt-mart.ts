/** The error for a mart that is declared and not built yet: the engines would suggest the name of some other table. */
import { MusterError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'

/** The error for a query that names `mart.NAME`; undefined when no such mart is declared. */
export function unbuiltMart(name: string, next = 'run muster build'): MusterError | undefined {
  if (!sqlFiles('mart').some(file => file.name === `mart/${name}.sql`)) return undefined
  return new MusterError({ what: `mart.${name} is declared but not built`, next })
}
