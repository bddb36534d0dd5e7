/** Computes the expected value of each cell from a record: reads the path that the column declares, without Muster's code. */
import type { Column, FieldPath } from '../../src/contract/fields/column.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { ChildTable, Table } from '../../src/contract/fields/table.ts'
import type { ShownRecord } from './source.ts'

/** A cell as text, or null. */
export type Cell = string | null

const at = (value: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>(
    (inner, step) => (typeof inner === 'object' && inner !== null ? (inner as ShownRecord)[step] : undefined),
    value,
  )

const decimals: Readonly<Record<string, number>> = { number: 8, money: 4, quantity: 4, coordinate: 9 }

/** Normalizes a stored or expected value, so that 7.5 equals 7.5000, and two notations of an instant are equal. */
export function plain(type: Column['type'], value: unknown): Cell {
  if (value === null || value === undefined) return null
  const scale = decimals[type]
  if (scale !== undefined) return Number(value).toFixed(scale)
  if (type === 'timestamp') return new Date(String(value)).toISOString()
  if (type === 'url') return String(value).replace(/[?#].*$/, '')
  return String(value)
}

/** Columns that copy one field of the record. Derived columns, free text and JSON have their own tests. */
export function comparedColumns(table: Table): [string, Column][] {
  return Object.entries(table.columns).filter(
    ([, { source, type, privacy }]) => source.from === 'field' && type !== 'json' && privacy === 'open',
  )
}

/** A value that the contract does not list is published only if it is a single word. */
const isPublished = (cell: string, values: Column['values']): boolean =>
  values === undefined || values.includes(cell) || /^[A-Za-z]\w{0,39}$/.test(cell)

export function expectedCell({ source, type, member, values }: Column, element: unknown): Cell {
  const value = source.from === 'field' ? at(element, source.path) : undefined
  const cell = plain(type, value)
  if (cell !== null && !isPublished(cell, values)) return '(other)'
  return member && (cell === null || cell === '') ? '-1' : cell
}

/** The elements of a record that become rows of the child table, in order. */
export function elementsOf(record: unknown, { lists, shape }: ChildTable): unknown[] {
  if (shape === 'single') return [at(record, lists[0] ?? [])].filter(one => one !== null && one !== undefined)
  return lists.reduce<unknown[]>(
    (elements, list) => elements.flatMap(element => (at(element, list) as unknown[] | undefined) ?? []),
    [record],
  )
}

/** Child tables whose rows come from objects inside the record. */
export const comparedChildren = ({ table }: Resource): readonly ChildTable[] =>
  table.children.filter(({ shape }) => shape === 'object' || shape === 'single')
