/** Finds companies or agencies that would lose all records of a list: perhaps the key no longer sees them. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { starColumns } from '../../warehouse/schema/physical.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

export type OwnerColumn = 'company_id' | 'agency_id'

export interface EmptiedOwner {
  readonly id: string
  readonly records: number
}

/** Owners with fewer records may lose all of them. */
const fewest = 3

/** Live records `t` with their owners `o`; undefined if the resource has none. */
function ownedRows(resource: Resource, column: OwnerColumn): string | undefined {
  const { table } = resource
  const key = recordKey(resource)
  if (starColumns(table).some(({ name }) => name === column))
    return `select ${key} as id, t.${column} as owner from ${liveRecords(resource)}`
  const list = table.children.find(({ table: rows }) => rows.name.endsWith(`_${column.replace('_id', '')}`))
  if (!list) return undefined
  return `select t.id, o.${column} as owner from (select ${key} as id from ${liveRecords(resource)}) as t
    join star.${quoteName(list.table.name)} as o on o.${quoteName(table.key)} = t.id and not o.is_deleted`
}

interface MissingRecords {
  readonly quiet: readonly string[]
  /** Ids of records whose deletion an event announced. */
  readonly announced: readonly string[]
}

const among = (ids: readonly string[]): string => `r.id in (${ids.map(quoteText).join(', ')})`

/** Owners whose records are all missing; announced deletions do not count. */
export async function emptiedOwners(
  engine: Engine,
  { resource, column }: { readonly resource: Resource; readonly column: OwnerColumn },
  { quiet, announced }: MissingRecords,
): Promise<EmptiedOwner[]> {
  const owned = ownedRows(resource, column)
  if (owned === undefined || quiet.length < fewest) return []
  const others = announced.length > 0 ? ` and not ${among(announced)}` : ''
  const rows = await engine.rows<{ id: string; n: number }>(
    `select r.owner as id, count(distinct r.id) as n from (${owned}) as r where r.owner <> '-1'${others}
     group by r.owner having count(distinct r.id) >= ${fewest}
       and count(distinct r.id) = count(distinct case when ${among(quiet)} then r.id end)
     order by 1`,
  )
  return rows.map(({ id, n }) => ({ id, records: Number(n) }))
}
