/** Companies, or agencies, that would be left without a record of a list: it may not show them any more. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { starColumns } from '../../warehouse/schema/physical.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

export type OwnerColumn = 'company_id' | 'agency_id'

export interface Owner {
  readonly id: string
  readonly records: number
}

/** Owners of fewer records may lose them all. */
const fewest = 3

/** Live records `t` with their owners `o`; undefined where the resource has none. */
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

interface Missing {
  readonly quiet: readonly string[]
  /** Those whose deletion an event announced. */
  readonly announced: readonly string[]
}

const among = (ids: readonly string[]): string => `r.id in (${ids.map(quoteText).join(', ')})`

/** Those all of whose records are missing; announced ones do not count. */
export async function emptiedOwners(
  engine: Engine,
  { resource, column }: { readonly resource: Resource; readonly column: OwnerColumn },
  { quiet, announced }: Missing,
): Promise<Owner[]> {
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
