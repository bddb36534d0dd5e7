/** The dimensions that marts refer to, as marts of their own: a reader of marts joins them without rights to star. */
import { createHash } from 'node:crypto'
import { wholeText } from '../contract/fields/nouns.ts'
import { memberTables, type PhysicalColumn, starColumns } from '../warehouse/schema/physical.ts'
import { isOfDimension, type Label, labelOf } from './labels.ts'

/** Types that a mart may have; rows of a mart hold no documents. */
const plain = /^(text|integer|bigint|boolean|date|timestamptz|double precision|numeric\(\d+, ?\d+\))$/

const isDeleted = {
  name: 'is_deleted',
  type: 'boolean',
  isKey: false,
  description: 'Whether the record is missing at the source.',
}

function described(description: string, noun: string): string {
  const whole = wholeText(description, noun)
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1).replace(/\.$/, '')}.`
}

function dimensionMart({ table, key, column, beside, noun }: Label) {
  const member = memberTables.get(table.replace('dim_', ''))
  const columns = (member ? starColumns(member) : []).filter(({ sql }) => plain.test(sql))
  const nameOf = ({ name }: PhysicalColumn): string => (name === column ? beside : name)
  const shown = columns.map(one => (one.name === column ? `${column} as ${beside}` : one.name))
  const select = `select ${[...shown, 'is_deleted'].join(', ')} from star.${table}`
  const summary = `All that other marts refer to as ${noun}; '-1' stands for records that name none.`
  const declared = columns.map(one => ({
    name: nameOf(one),
    type: one.sql.replace(', ', ','),
    isKey: one.name === key,
    description: described(one.description, noun),
  }))
  return {
    name: table,
    summary,
    grain: `one row per ${noun}.`,
    question: `What is known of each ${noun}?`,
    sources: [`star.${table}`],
    reads: [`star.${table}`],
    columns: [...declared, isDeleted],
    select,
    fields: new Map<string, string>(),
    dimensionOf: key,
    definitionId: createHash('sha256')
      .update(JSON.stringify([summary, declared, select]))
      .digest('hex')
      .slice(0, 12),
  }
}

/** In order of name: those that a column of these names refers to, and those that they refer to themselves. */
export function dimensionMarts(columns: readonly string[]) {
  const found = new Map<string, ReturnType<typeof dimensionMart>>()
  const visit = (column: string): void => {
    const label = labelOf(column)
    if (!label || !isOfDimension(label) || found.has(label.table)) return
    const mart = dimensionMart(label)
    found.set(label.table, mart)
    for (const { name } of mart.columns) visit(name)
  }
  for (const column of columns) visit(column)
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}
