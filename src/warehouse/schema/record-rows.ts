/** Selects the rows of star that are records of a resource, as SQL for both engines. */
import type { Resource } from '../../contract/fields/resource.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { constantsOf, isMember } from './physical.ts'

/** Leaves out inferred members and the unknown member; conditions on the alias can follow with `and`. */
export function recordRows({ table }: Resource, alias = 't'): string {
  const conditions = constantsOf(table).map(
    ([name, value]) => `${alias}.${quoteName(name)} = ${quoteText(value)}`,
  )
  if (isMember(table)) conditions.push(`not ${alias}.is_inferred`, `${alias}.${quoteName(table.key)} <> '-1'`)
  const where = ['true', ...conditions].join(' and ')
  return `star.${quoteName(table.name)} as ${alias} where ${where}`
}

export const liveRecords = (resource: Resource): string => `${recordRows(resource)} and not t.is_deleted`

/** When the record in row `t` was found missing; a user who sets is_deleted by hand may leave out the time. */
export const foundMissingAt = 'coalesce(t.deleted_at, t.loaded_at)'

/** When the content of row `t` became valid; rows from an older structure have no valid_from. */
export const beganAt = 'coalesce(t.valid_from, t.source_updated_at, t.loaded_at)'

/** Key of the record in row `t`. */
export const recordKey = ({ table }: Resource): string => `t.${quoteName(table.key)}`
