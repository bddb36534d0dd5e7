/** Derives from its tables the JSON that a resource declares: which paths are objects, lists or leaves. */
import type { Column, ColumnSource, ColumnType, FieldPath } from '../fields/column.ts'
import type { ChildTable, Table } from '../fields/table.ts'

export type ShapeNode =
  /** `column`: the column that takes the value, if one does. */
  | { readonly kind: 'leaf'; readonly type: ColumnType; readonly column?: Column }
  /** `open`: a JSON column stores the complete object, undeclared fields included. */
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, ShapeNode>; readonly open?: true }
  | { readonly kind: 'list'; readonly element: ShapeNode }

export type ObjectShape = Extract<ShapeNode, { kind: 'object' }>

/** A tree under construction, not shared yet. */
interface GrowingShape {
  readonly kind: 'object'
  readonly fields: Map<string, ShapeNode>
  open?: true
}

const emptyObject = (): GrowingShape => ({ kind: 'object', fields: new Map() })

const growing = (node: ShapeNode | undefined): GrowingShape | undefined =>
  node?.kind === 'object' ? (node as GrowingShape) : undefined

const isDocument = (node: ShapeNode): boolean => node.kind === 'leaf' && node.type === 'json'

function place(shape: GrowingShape, path: FieldPath, node: ShapeNode): void {
  const [key, ...rest] = path
  if (key === undefined) return
  if (rest.length === 0) {
    const before = growing(shape.fields.get(key))
    // A JSON column may cover an object whose parts are columns too: the parts give the shape.
    if (!before) shape.fields.set(key, node)
    else if (node.kind === 'object') for (const [part, inner] of node.fields) place(before, [part], inner)
    else if (isDocument(node)) before.open = true
    return
  }
  const next = shape.fields.get(key)
  const inner = growing(next) ?? emptyObject()
  if (inner !== next) shape.fields.set(key, inner)
  if (next && isDocument(next)) inner.open = true
  place(inner, rest, node)
}

function fieldLeaves(table: Table): [FieldPath, ShapeNode][] {
  return Object.values(table.columns).flatMap(column => {
    const sources: ColumnSource[] = [column.source, ...Object.values(column.member?.attributes ?? {})]
    return sources.flatMap((source, index): [FieldPath, ShapeNode][] =>
      source.from === 'field'
        ? [
            [
              source.path,
              index === 0 ? { kind: 'leaf', type: column.type, column } : { kind: 'leaf', type: 'text' },
            ],
          ]
        : [],
    )
  })
}

function elementShape(child: ChildTable): ShapeNode {
  if (child.shape !== 'value') return derive(child.table)
  const column = Object.values(child.table.columns).find(
    ({ source }) => source.from === 'field' && source.path.length === 0,
  )
  return { kind: 'leaf', type: 'text', ...(column && { column }) }
}

function placeChild(shape: GrowingShape, child: ChildTable): void {
  if (child.shape === 'leaves') return
  const [first, second, ...deeper] = child.lists
  const element = elementShape(child)
  if (child.shape === 'single') {
    place(shape, first, element)
  } else if (second === undefined) {
    place(shape, first, { kind: 'list', element })
  } else {
    const inner = emptyObject()
    placeChild(inner, { ...child, lists: [second, ...deeper] })
    place(shape, first, { kind: 'list', element: inner })
  }
}

/** Returns a new tree at every call, because it becomes part of the parent table's tree. */
function derive(table: Table): GrowingShape {
  const shape = emptyObject()
  for (const [path, leaf] of fieldLeaves(table)) if (path.length > 0) place(shape, path, leaf)
  for (const child of table.children) placeChild(shape, child)
  return shape
}

const derived = new WeakMap<Table, ObjectShape>()

/** All paths that the table and its children read, as one tree; cached, because every batch needs it many times. */
export function shapeOf(table: Table): ObjectShape {
  const shape = derived.get(table) ?? derive(table)
  derived.set(table, shape)
  return shape
}

export interface DeclaredPath {
  /** With [] for a list element: timelogs[].hours.total. */
  readonly path: string
  readonly kind: ShapeNode['kind']
  readonly type?: ColumnType
}

/** Every declared path below `node`, with the kind of value expected there. */
export function declaredPaths(node: ShapeNode, at = ''): DeclaredPath[] {
  const self: DeclaredPath[] =
    at === ''
      ? []
      : [node.kind === 'leaf' ? { path: at, kind: 'leaf', type: node.type } : { path: at, kind: node.kind }]
  if (node.kind === 'leaf') return self
  if (node.kind === 'list') return [...self, ...declaredPaths(node.element, `${at}[]`)]
  const below = [...node.fields].flatMap(([key, next]) =>
    declaredPaths(next, at === '' ? key : `${at}.${key}`),
  )
  return [...self, ...below]
}

export interface OpenDocument {
  readonly path: string
  readonly exploded: boolean
  /** All of its leaves are restricted, regardless of their names. */
  readonly isRestricted: boolean
}

/** Paths whose complete content is stored, with any keys: JSON columns, and documents exploded into leaves. */
export function openDocuments(table: Table): OpenDocument[] {
  const columns = Object.values(table.columns).flatMap(({ type, source, privacy }) =>
    type === 'json' && source.from === 'field'
      ? [{ path: source.path.join('.'), exploded: false, isRestricted: privacy !== 'open' }]
      : [],
  )
  const leaves = table.children
    .filter(child => child.shape === 'leaves')
    .map(child => ({ path: child.lists[0].join('.'), exploded: true, isRestricted: false }))
  return [...columns, ...leaves]
}
