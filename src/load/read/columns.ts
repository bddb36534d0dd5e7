/** Builds the statement that fills a stage table: typed columns, derived ones, and the row's hashes. */
import type { Column, ColumnType, FieldPath, ListSource } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { below, type StageTable, stagedSources } from './plan.ts'

/** How to write each kind of source in the current FROM clause. */
export interface Spelling {
  /** The struct, or the plain value, that fields are read from. */
  readonly element: string
  readonly hasLong: boolean
  /** The JSON at a path, as the service sent it. */
  document(path: FieldPath): string
  scope(name: string): string
  root(column: string): string
  parent(column: string): string
  ordinal(depth: number): string
}

/** A reference always points to a row: '-1' is the unknown member of every dimension. */
const orUnknown = (column: Column, value: string): string =>
  column.member ? `coalesce(${value}, '-1')` : value

function fieldValue(type: ColumnType, path: FieldPath, { element, hasLong, document }: Spelling): string {
  const { cast, castLong = cast } = storedTypes[type]
  if (type === 'json') return cast(document(path))
  return (hasLong ? castLong : cast)(below(element, path))
}

function value(column: Column, spelling: Spelling): string {
  const { source } = column
  switch (source.from) {
    case 'field':
      return orUnknown(column, fieldValue(column.type, source.path, spelling))
    case 'scope':
      return spelling.scope(source.name)
    case 'root':
      return spelling.root(source.column)
    case 'parent':
      return spelling.parent(source.column)
    case 'ordinal':
      return spelling.ordinal(source.depth)
    case 'constant':
      return quoteText(source.value)
    case 'list':
      return listFigure(column.type, source, spelling.element)
    case 'derived':
      return source.sql
  }
}

const jsonKeys = (path: readonly string[]): string => path.map(key => `.${quoteName(key)}`).join('')

/** An aggregate over the elements of a list, which is still JSON text in this stage. */
function listFigure(type: ColumnType, { lists, path, take, where }: ListSource, element: string): string {
  const [first, ...deeper] = lists
  const list = `nullif(cast(${below(element, first)} as varchar), 'null')`
  const elements = `json_extract(${list}, ${quoteText(`$[*]${deeper.map(next => `${jsonKeys(next)}[*]`).join('')}`)})`
  const textOf = (keys: readonly string[]): string =>
    `json_extract_string(e, ${quoteText(`$${jsonKeys(keys)}`)})`
  const only = where ? ` if ${textOf([where.key])} = ${quoteText(where.is)}` : ''
  const { sql } = storedTypes[type]
  // The page search judges only values that a column takes.
  const value = take === 'count' ? '1' : `try_cast(${textOf(path)} as ${sql})`
  return `cast(list_${take}([${value} for e in ${elements}${only}]) as ${sql})`
}

/** All columns that are not computed from others, as `expression as name`. */
function directColumns(table: Table, spelling: Spelling): string[] {
  return stagedSources(table)
    .filter(([, column]) => column.source.from !== 'derived')
    .map(([name, column]) => `${value(column, spelling)} as ${quoteName(name)}`)
}

interface DerivedColumn {
  readonly name: string
  readonly column: Column
  readonly sql: string
}

const derivedColumns = (table: Table): DerivedColumn[] =>
  stagedSources(table).flatMap(([name, column]) =>
    column.source.from === 'derived' ? [{ name, column, sql: column.source.sql }] : [],
  )

/** Groups derived columns in layers: each reads only columns of earlier layers. */
function derivedLayers(table: Table): DerivedColumn[][] {
  const layers: DerivedColumn[][] = []
  let waiting = derivedColumns(table)
  while (waiting.length > 0) {
    const names = waiting.map(({ name }) => name)
    const ready = waiting.filter(({ sql }) => !names.some(name => new RegExp(`\\b${name}\\b`).test(sql)))
    if (ready.length === 0)
      throw new Error(`${table.name}: derived columns ${names.join(', ')} read each other`)
    layers.push(ready)
    waiting = waiting.filter(column => !ready.includes(column))
  }
  return layers
}

/** Wraps a SELECT to add the derived columns. */
function withDerived(table: Table, select: string): string {
  return derivedLayers(table).reduce((inner, layer) => {
    const columns = layer.map(({ name, column, sql }) => `${orUnknown(column, sql)} as ${quoteName(name)}`)
    return `select *, ${columns.join(', ')} from (${inner})`
  }, select)
}

/** Computed from columns that the hash already covers. */
const isComputed = ({ source }: Column): boolean => source.from === 'derived' || source.from === 'list'

/**
 * Columns whose difference counts as a change: neither volatile nor computed. A record's JSON counts by its leaves, so
 * key order does not matter; JSON inside a list has no leaves and counts as text.
 */
function hashedColumns({ table, origin }: StageTable): [string, Column][] {
  return stagedSources(table).filter(
    ([, column]) => !column.volatile && !isComputed(column) && (origin || column.type !== 'json'),
  )
}

/** A change time inside JSON, of an embedded record. */
const timeInside = String.raw`"updatedAt"\s*:\s*("[^"]*"|null|[0-9]+)`

/** Ignores when the service wrote it: equal whenever the content is. */
const contentOf = ([name, { type }]: [string, Column]): string =>
  type === 'json'
    ? `regexp_replace(cast(${quoteName(name)} as varchar), ${quoteText(timeInside)}, '', 'g')`
    : quoteName(name)

/** Computes a row's two hashes: of its content, and of the service's bookkeeping. */
function ownHashes(stage: StageTable): string {
  const hashed = hashedColumns(stage)
  const content = hashed.filter(([, column]) => !column.bookkeeping).map(contentOf)
  const touches = hashed
    .filter(([, { bookkeeping, type }]) => bookkeeping || type === 'json')
    .map(([name]) => quoteName(name))
  return `hash(${content.join(', ')}) as own_hash, ${touches.length === 0 ? 'cast(0 as ubigint)' : `hash(${touches.join(', ')})`} as own_touch`
}

interface SelectParts {
  /** Additional columns, as `expression as name`. */
  readonly columns: readonly string[]
  readonly from: string
}

export function stageStatement(
  stage: StageTable,
  spelling: Spelling,
  { columns, from }: SelectParts,
): string {
  const { name, table } = stage
  const typed = `select ${[...columns, ...directColumns(table, spelling)].join(', ')} from ${from}`
  return `create or replace table ${name} as select *, ${ownHashes(stage)} from (${withDerived(table, typed)})`
}
