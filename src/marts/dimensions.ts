/**
 * Copies the dimensions that marts refer to into marts of their own, so that a reader of marts joins them without
 * rights to star. Also finds the column that names the records of a table for people, for each id in a mart.
 */

import { createHash } from 'node:crypto'
import { catalogue } from '../contract/catalogue.ts'
import { fullDescription, nounOf } from '../contract/fields/nouns.ts'
import type { Table } from '../contract/fields/table.ts'
import { memberTables, type PhysicalColumn, starColumns } from '../warehouse/schema/physical.ts'

export interface Label {
  /** Without its schema. */
  readonly table: string
  readonly key: string
  /** Column of the table, such as name. */
  readonly column: string
  /** Column of a mart, such as agency_name, beside agency_id. */
  readonly beside: string
  /** What a row stands for, such as agency. */
  readonly noun: string
}

/** The first of these that star has for the table. */
const readable = ['name', 'label', 'title', 'reference'] as const

function labelOfTable(table: Table): Label[] {
  const entity = table.name.replace(/^(dim|fact)_/, '')
  const columns = new Set(starColumns(table).map(({ name }) => name))
  const column = [...readable, `${entity}_reference`].find(name => columns.has(name))
  if (column === undefined) return []
  const beside = column.startsWith(`${entity}_`) ? column : `${entity}_${column}`
  return [{ table: table.name, key: table.key, column, beside, noun: nounOf(entity) }]
}

const records = catalogue.map(({ table }) => table).filter(({ name }) => name.startsWith('fact_'))

/** By the key of the table. */
const labels: ReadonlyMap<string, Label> = new Map(
  [...memberTables.values(), ...records].flatMap(labelOfTable).map(label => [label.key, label]),
)

export const isOfDimension = ({ table }: Label): boolean => table.startsWith('dim_')

/** Finds what `agency_id` or `latest_assignment_id` refers to; the name column keeps the prefix of the key. */
export function labelOf(column: string): Label | undefined {
  const words = column.split('_')
  for (let from = 0; from < words.length; from += 1) {
    const label = labels.get(words.slice(from).join('_'))
    if (label) return { ...label, beside: [...words.slice(0, from), label.beside].join('_') }
  }
  return undefined
}

/** Column types that a mart may have: no JSON documents. */
const plain = /^(text|integer|bigint|boolean|date|timestamptz|double precision|numeric\(\d+, ?\d+\))$/

const isDeleted = {
  name: 'is_deleted',
  type: 'boolean',
  isKey: false,
  description: 'Whether the record is missing at the source.',
}

function described(description: string, noun: string): string {
  const sentence = fullDescription(description, noun)
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.$/, '')}.`
}

function dimensionMart({ table, key, column, beside, noun }: Label) {
  const member = memberTables.get(table.replace('dim_', ''))
  const columns = (member ? starColumns(member) : []).filter(({ sql }) => plain.test(sql))
  const nameOf = ({ name }: PhysicalColumn): string => (name === column ? beside : name)
  const shown = columns.map(one => (one.name === column ? `${column} as ${beside}` : one.name))
  const select = `select ${[...shown, 'is_deleted'].join(', ')} from star.${table}`
  const summary = `Every ${noun} that other marts refer to; '-1' stands for records that name none.`
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

/** In order of name: the dimensions that columns of these names refer to, and those that these dimensions refer to. */
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
