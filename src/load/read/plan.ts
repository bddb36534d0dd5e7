/** Plans the temporary tables for a batch of pages: one for the record, one for each list inside it. */

import {
  type ObjectShape,
  openDocuments,
  type ShapeNode,
  shapeOf,
} from '../../contract/derived/json-shape.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { ChildTable, Table } from '../../contract/fields/table.ts'
import { quoteName } from '../../warehouse/sql-text.ts'

/** A list inside the rows of a stage. */
interface StageList {
  /** The column that shows whether the list has elements, or holds its JSON if each leaf becomes a row. */
  readonly column: string
  readonly child: ChildTable
  /** The stage of its elements. */
  readonly stage: ListStage
}

/** The list that the rows of a stage come from. */
type StageOrigin = Pick<StageList, 'column' | 'child'> & { readonly parent: StageTable }

export interface StageTable<Origin = StageOrigin | undefined> {
  /** A table in the database `stage`, such as stage.stage_2. */
  readonly name: string
  readonly table: Table
  /** Undefined for the record itself. */
  readonly origin: Origin
  readonly lists: readonly StageList[]
}

export type ListStage = StageTable<StageOrigin>

export interface StagePlan {
  readonly resource: Resource
  readonly shape: ObjectShape
  readonly root: StageTable
  /** The root comes first, and parents before their children. */
  readonly tables: readonly StageTable[]
  /** Paths whose leaves all go to attribute_leaf, stored as a whole in a column of the root stage. */
  readonly documents: readonly {
    readonly name: string
    readonly path: string
    readonly isRestricted: boolean
  }[]
}

function stageTable<Origin extends StageOrigin | undefined>(
  table: Table,
  origin: Origin,
  counter: { next: number },
): StageTable<Origin> {
  const lists: StageList[] = []
  const self = { name: `stage.stage_${counter.next++}`, table, origin, lists }
  for (const [index, child] of table.children.entries()) {
    const column = `list_${index}`
    lists.push({ column, child, stage: stageTable(child.table, { column, child, parent: self }, counter) })
  }
  return self
}

const withChildren = (stage: StageTable): StageTable[] => [
  stage,
  ...stage.lists.flatMap(list => withChildren(list.stage)),
]

export function stagePlan(resource: Resource): StagePlan {
  const root = stageTable(resource.table, undefined, { next: 0 })
  const documents = openDocuments(resource.table)
    .filter(document => !document.exploded)
    .map(({ path, isRestricted }, index) => ({ name: `document_${index}`, path, isRestricted }))
  return { resource, shape: shapeOf(resource.table), root, tables: withChildren(root), documents }
}

/** Undefined if no declared field is there. */
export const nodeAt = (shape: ShapeNode, path: readonly string[]): ShapeNode | undefined =>
  path.reduce<ShapeNode | undefined>(
    (node, key) => (node?.kind === 'object' ? node.fields.get(key) : undefined),
    shape,
  )

/**
 * Whether one declared type covers everything that a stage reads. It does not if one column takes a path as JSON and
 * others read parts of it.
 */
function isTyped({ table, origin }: StageTable): boolean {
  const shape = shapeOf(table)
  return (
    origin?.child.shape !== 'leaves' &&
    Object.values(table.columns).every(({ source }) => source.from !== 'list') &&
    openDocuments(table).every(({ path }) => nodeAt(shape, path.split('.'))?.kind === 'leaf')
  )
}

export const isWhollyTyped = ({ tables }: StagePlan): boolean => tables.every(isTyped)

/** Stage column for an attribute of a member, next to the column that refers to the member. */
export const memberAttribute = (column: string, attribute: string): string => `${column}__${attribute}`

/** The declared columns of a stage table, then the attributes of members. */
export function stagedSources(table: Table): [string, Column][] {
  const attributes = Object.entries(table.columns).flatMap(([name, column]) =>
    Object.entries(column.member?.attributes ?? {}).map(([attribute, source]): [string, Column] => [
      memberAttribute(name, attribute),
      { type: 'text', source, description: '', privacy: 'personal' },
    ]),
  )
  return [...Object.entries(table.columns), ...attributes]
}

/** A struct field at a path below an expression; if the expression is empty, the first key is a column. */
export const below = (expression: string, path: readonly string[]): string =>
  [...(expression === '' ? [] : [expression]), ...path.map(quoteName)].join('.')

/** A document's JSON path, for json_extract. */
export const jsonPath = (path: string): string => `$.${path.split('.').map(quoteName).join('.')}`

/** SQL for a path without positions: timelogs[3].hours.total and timelogs[].hours.total are the same field. */
export const shapePath = (path: string): string => `regexp_replace(${path}, '\\[\\d+\\]', '[]', 'g')`
