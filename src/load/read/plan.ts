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

export interface StageTable {
  /** A table in the database `stage`, such as stage.stage_2. */
  readonly name: string
  readonly table: Table
  readonly child?: ChildTable
  readonly parent?: StageTable
  /** A column for each child: whether its list has elements, or its JSON if each leaf becomes a row. */
  readonly lists: readonly { readonly name: string; readonly child: ChildTable }[]
}

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

function stageTables(
  table: Table,
  place: Pick<StageTable, 'child' | 'parent'>,
  counter: { next: number },
): StageTable[] {
  const name = `stage.stage_${counter.next++}`
  const lists = table.children.map((child, index) => ({ name: `list_${index}`, child }))
  const self: StageTable = { name, table, ...place, lists }
  return [
    self,
    ...table.children.flatMap(child => stageTables(child.table, { child, parent: self }, counter)),
  ]
}

export function stagePlan(resource: Resource): StagePlan {
  const tables = stageTables(resource.table, {}, { next: 0 })
  const [root] = tables
  if (!root) throw new Error(`${resource.name} has no table`)
  const documents = openDocuments(resource.table)
    .filter(document => !document.exploded)
    .map(({ path, isRestricted }, index) => ({ name: `document_${index}`, path, isRestricted }))
  return { resource, shape: shapeOf(resource.table), root, tables, documents }
}

function isLeaf(node: ShapeNode | undefined, path: readonly string[]): boolean {
  const [key, ...rest] = path
  if (key === undefined) return node?.kind === 'leaf'
  return node?.kind === 'object' && isLeaf(node.fields.get(key), rest)
}

/**
 * Whether one declared type covers everything that a stage reads. It does not if one column takes a path as JSON and
 * others read parts of it.
 */
function isTyped({ table, child }: StageTable): boolean {
  const shape = shapeOf(table)
  return (
    child?.shape !== 'leaves' &&
    Object.values(table.columns).every(({ source }) => source.from !== 'list') &&
    openDocuments(table).every(({ path }) => isLeaf(shape, path.split('.')))
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
