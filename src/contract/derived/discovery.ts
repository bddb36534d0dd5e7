/** Where ids of records that can be read one by one only are found: the columns of star that name them. */
import { catalogue, readById } from '../catalogue.ts'
import type { Column, Naming } from '../fields/column.ts'
import type { Resource } from '../fields/resource.ts'
import { tablesOf } from '../fields/table.ts'

/** A column whose values are ids of records. */
export interface Edge extends Naming {
  /** Plural name of the resource whose records say it. */
  readonly from: string
  /** In star. */
  readonly table: string
  readonly column: string
}

const byDimension = new Map(readById.map(({ name, table }) => [table.name, name]))

/** A reference to a dimension of such records is an id, unless it is worked out from something else. */
function naming({ names, member, source }: Column): Naming | undefined {
  if (names) return names
  const resource = member && byDimension.get(`dim_${member.dimension}`)
  return resource !== undefined && source.from === 'field' ? { resource } : undefined
}

function edgesFrom({ name: from, table: root }: Resource): Edge[] {
  return tablesOf(root).flatMap(table =>
    Object.entries(table.columns).flatMap(([column, declared]) => {
      const named = naming(declared)
      return named ? [{ from, table: table.name, column, ...named }] : []
    }),
  )
}

/** Each once, also of a table that several lists of a record feed. */
export const edges: readonly Edge[] = [
  ...new Map(
    catalogue.flatMap(edgesFrom).map(edge => [JSON.stringify([edge.table, edge.column, edge.where]), edge]),
  ).values(),
]
