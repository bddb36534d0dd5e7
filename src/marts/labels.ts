/** The column by which people tell the records of a table apart, and which ids of a mart it stands beside. */
import { catalogue } from '../contract/catalogue.ts'
import { nounOf } from '../contract/fields/nouns.ts'
import type { Table } from '../contract/fields/table.ts'
import { memberTables, starColumns } from '../warehouse/schema/physical.ts'

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

/** The first of them that the table has in the open. */
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

/** What `agency_id` or `latest_assignment_id` refers to; its name beside it keeps what comes before the key. */
export function labelOf(column: string): Label | undefined {
  const words = column.split('_')
  for (let from = 0; from < words.length; from += 1) {
    const label = labels.get(words.slice(from).join('_'))
    if (label) return { ...label, beside: [...words.slice(0, from), label.beside].join('_') }
  }
  return undefined
}
