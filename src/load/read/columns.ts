/** The statement that fills a stage table: typed columns, derived ones, the hash of the row, and whether it needs a cast check. */
import type { Column, ColumnType, ListSource } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { leavesDiffer, numbersDiffer, numbersRead } from './cast-check.ts'
import type { Reader } from './pages.ts'
import { below, type StageTable, stagedSources } from './plan.ts'

/** The SQL of each kind of source in the FROM clause at hand. */
export interface Spelling {
  /** The struct, or the plain value, that fields are read from. */
  readonly element: string
  scope(name: string): string
  root(column: string): string
  parent(column: string): string
  ordinal(depth: number): string
}

/** A reference always points to a row: '-1' is the unknown member of every dimension. */
const orUnknown = (column: Column, value: string): string =>
  column.member ? `coalesce(${value}, '-1')` : value

function value(column: Column, spelling: Spelling): string {
  const { source } = column
  switch (source.from) {
    case 'field':
      return orUnknown(column, storedTypes[column.type].cast(below(spelling.element, source.path)))
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

/** A figure over the elements of a list, which is still JSON text in this stage. */
function listFigure(type: ColumnType, { lists, path, take, where }: ListSource, element: string): string {
  const [first = [], ...deeper] = lists
  const list = `nullif(cast(${below(element, first)} as varchar), 'null')`
  const elements = `json_extract(${list}, ${quoteText(`$[*]${deeper.map(next => `${jsonKeys(next)}[*]`).join('')}`)})`
  const textOf = (keys: readonly string[]): string =>
    `json_extract_string(e, ${quoteText(`$${jsonKeys(keys)}`)})`
  const only = where ? ` if ${textOf([where.key])} = ${quoteText(where.is)}` : ''
  const value = take === 'count' ? '1' : storedTypes[type].cast(textOf(path))
  return `cast(list_${take}([${value} for e in ${elements}${only}]) as ${storedTypes[type].sql})`
}

/** Every column that is not computed from others, as `expression as name`. */
function directColumns(table: Table, spelling: Spelling): string[] {
  return stagedSources(table)
    .filter(([, column]) => column.source.from !== 'derived')
    .map(([name, column]) => `${value(column, spelling)} as ${quoteName(name)}`)
}

/** Derived columns in layers: each reads only columns of the layers before it. */
function derivedLayers(table: Table): [string, Column][][] {
  let waiting = stagedSources(table).filter(([, column]) => column.source.from === 'derived')
  const layers: [string, Column][][] = []
  while (waiting.length > 0) {
    const names = waiting.map(([name]) => name)
    const reads = ([, column]: [string, Column]): boolean => {
      const sql = column.source.from === 'derived' ? column.source.sql : ''
      return names.some(name => new RegExp(`\\b${name}\\b`).test(sql))
    }
    const ready = waiting.filter(entry => !reads(entry))
    if (ready.length === 0)
      throw new Error(`${table.name}: derived columns ${names.join(', ')} read each other`)
    layers.push(ready)
    waiting = waiting.filter(entry => !ready.includes(entry))
  }
  return layers
}

/** Wraps a SELECT so that the derived columns stand beside the direct ones. */
function withDerived(table: Table, select: string): string {
  return derivedLayers(table).reduce((inner, layer) => {
    const columns = layer.map(([name, column]) => {
      const sql = column.source.from === 'derived' ? column.source.sql : ''
      return `${orUnknown(column, sql)} as ${quoteName(name)}`
    })
    return `select *, ${columns.join(', ')} from (${inner})`
  }, select)
}

/** Computed from columns that the hash covers already. */
const isComputed = ({ source }: Column): boolean => source.from === 'derived' || source.from === 'list'

/**
 * Columns whose difference is a change: neither volatile nor computed ones. JSON of a record counts by its leaves, so that
 * the order of keys does not matter; JSON inside a list has no leaves and counts as text.
 */
function hashedColumns({ table, child }: StageTable): [string, Column][] {
  return stagedSources(table).filter(
    ([, column]) => !column.volatile && !isComputed(column) && (child || column.type !== 'json'),
  )
}

/** A time of change inside JSON, of a record that the service embeds there. */
const timeInside = String.raw`"updatedAt"\s*:\s*("[^"]*"|null|[0-9]+)`

/** The same as long as the content is, whenever the service wrote it. */
const contentOf = ([name, { type }]: [string, Column]): string =>
  type === 'json'
    ? `regexp_replace(cast(${quoteName(name)} as varchar), ${quoteText(timeInside)}, '', 'g')`
    : quoteName(name)

/** Two hashes of a row: of its content, and of the bookkeeping of the service. */
function ownHashes(stage: StageTable): string {
  const hashed = hashedColumns(stage)
  const content = hashed.filter(([, column]) => !column.bookkeeping).map(contentOf)
  const touches = hashed
    .filter(([, { bookkeeping, type }]) => bookkeeping || type === 'json')
    .map(([name]) => quoteName(name))
  return `hash(${content.join(', ')}) as own_hash, ${touches.length === 0 ? 'cast(0 as ubigint)' : `hash(${touches.join(', ')})`} as own_touch`
}

interface Parts extends Pick<Reader, 'numbers'> {
  /** Columns beside the declared ones, as `expression as name`. */
  readonly columns: readonly string[]
  readonly from: string
  /** Further conditions under which a row needs the cast check. */
  readonly misshapen: readonly string[]
}

export function stageStatement(stage: StageTable, spelling: Spelling, parts: Parts): string {
  const { name, table } = stage
  const losses = [...leavesDiffer(table, spelling.element, parts.numbers), ...parts.misshapen]
  const direct = [
    ...parts.columns,
    ...directColumns(table, spelling),
    `${numbersRead(table, spelling.element, parts.numbers)} as numbers_read`,
    `(${losses.length === 0 ? 'false' : losses.join(' or ')}) as has_loss`,
  ]
  const typed = `select ${direct.join(', ')} from ${parts.from}`
  return `create or replace table ${name} as
    select * exclude (numbers_read, has_loss), has_loss or ${numbersDiffer(table, 'numbers_read', parts.numbers)} as needs_check,
      ${ownHashes(stage)}
    from (${withDerived(table, typed)})`
}
