/** Finds where the ids of records read by id come from: the columns of star that contain them. */
import { catalogue, findResource } from '../catalogue.ts'
import type { Column, RecordNaming } from '../fields/column.ts'
import { asReadBy, type Collection, isCollection, type KeyKind, type Resource } from '../fields/resource.ts'
import { tablesOf } from '../fields/table.ts'

/** A column whose values are ids of records. */
export interface Edge extends RecordNaming {
  /** Plural name of the resource whose records carry the column. */
  readonly from: string
  /** Name in star. */
  readonly table: string
  readonly column: string
}

/** Names of the resources that this kind of key reads by id, by their tables. */
const tablesReadById = (kind: KeyKind): ReadonlyMap<string, string> =>
  new Map(
    catalogue
      .filter(one => asReadBy(one, kind)?.read.strategy === 'byId')
      .map(({ name, table }) => [table.name, name]),
  )

/** A reference to a dimension of such records is an id, unless its value is derived. */
function naming(
  { names, member, source }: Column,
  byDimension: ReadonlyMap<string, string>,
): RecordNaming | undefined {
  if (names) return names
  const resource = member && byDimension.get(`dim_${member.dimension}`)
  return resource !== undefined && source.from === 'field' ? { resource } : undefined
}

function edgesFrom({ name: from, table: root }: Resource, byDimension: ReadonlyMap<string, string>): Edge[] {
  return tablesOf(root).flatMap(table =>
    Object.entries(table.columns).flatMap(([column, declared]) => {
      const named = naming(declared, byDimension)
      return named ? [{ from, table: table.name, column, ...named }] : []
    }),
  )
}

/** Without duplicates, because several lists of a record may fill one table. */
function edgesOf(kind: KeyKind): readonly Edge[] {
  const byDimension = tablesReadById(kind)
  const all = catalogue.flatMap(one => edgesFrom(one, byDimension))
  return [...new Map(all.map(edge => [JSON.stringify([edge.table, edge.column, edge.where]), edge])).values()]
}

/** By the kind of the key that reads the records. */
export const edges: Readonly<Record<KeyKind, readonly Edge[]>> = {
  company: edgesOf('company'),
  agency: edgesOf('agency'),
}

/** The first source of a resource's ids, before anything was read. */
export type IdSource =
  /** Records of this list name them, directly or through records that they name. */
  | { readonly from: 'list'; readonly list: Collection }
  /** Records of this resource include the complete records. */
  | { readonly from: 'record'; readonly resource: string }
  | { readonly from: 'events' }

export function idSourceOf({ name }: Resource, kind: KeyKind): IdSource {
  const seen = new Set([name])
  // The set grows during the loop: a resource that names this one may itself be named by others.
  for (const one of seen)
    for (const { from, resource, brings } of edges[kind]) {
      if (resource !== one || seen.has(from)) continue
      if (brings && one === name) return { from: 'record', resource: from }
      const source = findResource(from)
      if (source && isCollection(source) && source.read.strategy === 'scan')
        return { from: 'list', list: source }
      seen.add(from)
    }
  return { from: 'events' }
}
