/** The expressions that fill a stage table, shared by records and the rows of their lists. */
import type { Column } from '../../resources/column.ts'
import type { ObjectShape, ShapeNode } from '../../resources/json-shape.ts'
import type { Table } from '../../resources/table.ts'
import { storedTypes } from '../column-type.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { below, type StageTable, stagedSources } from './plan.ts'
import { structType } from './struct-type.ts'

/** How each kind of source is spelled in the FROM clause at hand. */
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
    case 'derived':
      return source.sql
  }
}

/** Every column that is not computed from others, as `expression as name`. */
export function directColumns(table: Table, spelling: Spelling): string[] {
  return stagedSources(table)
    .filter(([, column]) => column.source.from !== 'derived')
    .map(([name, column]) => `${value(column, spelling)} as ${quoteName(name)}`)
}

/** Derived columns in layers: each layer reads only what the layers before it made. */
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
export function withDerived(table: Table, select: string): string {
  return derivedLayers(table).reduce((inner, layer) => {
    const columns = layer.map(([name, column]) => {
      const sql = column.source.from === 'derived' ? column.source.sql : ''
      return `${orUnknown(column, sql)} as ${quoteName(name)}`
    })
    return `select *, ${columns.join(', ')} from (${inner})`
  }, select)
}

/** Columns whose difference is a change: not the clock's, not computed ones, not JSON (its leaves count instead). */
export function hashedColumns(table: Table): string[] {
  return stagedSources(table)
    .filter(([, column]) => !column.volatile && column.type !== 'json' && column.source.from !== 'derived')
    .map(([name]) => name)
}

/** Leaves of one kind, as SQL expressions: their texts, and what the texts were cast to. */
interface Checked {
  readonly texts: string[]
  readonly values: string[]
}

const isNumeric = (type: Column['type']): boolean =>
  ['integer', 'number', 'money', 'quantity', 'coordinate'].includes(type)

/**
 * Numbers are judged together: as doubles, the texts and the values must be equal, and as many must be present. Two
 * lists cost a third of what a condition for each of 63 columns costs, most of it for planning the statement.
 */
function numberSuspicions({ texts, values }: Checked): string[] {
  if (texts.length === 0) return []
  const said = `[${texts.join(', ')}]`
  const kept = `[${values.map(value => `cast(${value} as double)`).join(', ')}]`
  return [
    `list_count(${said}) <> list_count(${kept})`,
    `try_cast(${said} as double[]) is distinct from ${kept}`,
  ]
}

/** Present texts that did not survive their cast whole, and required ones that are absent. */
function leafSuspicions(table: Table, spelling: Spelling): string[] {
  const numbers: Checked = { texts: [], values: [] }
  const others = Object.values(table.columns).flatMap(column => {
    if (column.source.from !== 'field') return []
    const text = below(spelling.element, column.source.path)
    const stored = storedTypes[column.type]
    const missing = column.required ? [`${text} is null`] : []
    if (!stored.intact) return missing
    if (!isNumeric(column.type))
      return [...missing, `(${text} is not null and (${stored.intact(text, stored.cast(text))}) is not true)`]
    numbers.texts.push(text)
    numbers.values.push(stored.cast(text))
    return missing
  })
  return [...others, ...numberSuspicions(numbers)]
}

/** What the cast makes of something that is no object: a struct whose fields are all NULL. */
function nothingIn(node: ObjectShape): string {
  return `{${[...node.fields].map(([key, next]) => `${quoteText(key)}: cast(null as ${structType(next)})`).join(', ')}}`
}

/** An object that is there but holds nothing we know may be something else than an object. */
function objectSuspicions(node: ShapeNode, at: string): string[] {
  if (node.kind !== 'object') return []
  return [...node.fields].flatMap(([key, next]) => {
    const path = below(at, [key])
    if (next.kind !== 'object' || next.fields.size === 0) return []
    return [`(${path} is not distinct from ${nothingIn(next)})`, ...objectSuspicions(next, path)]
  })
}

/** The condition under which a record is looked at closely: something present may have been lost. */
export function suspicion(stage: StageTable, spelling: Spelling, shape: ShapeNode): string {
  const conditions = [...leafSuspicions(stage.table, spelling), ...objectSuspicions(shape, spelling.element)]
  return conditions.length === 0 ? 'false' : conditions.join(' or ')
}
