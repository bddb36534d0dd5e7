/** What each cell of a record's row must hold: the declaration says where the value stands, and this reads it anew. */
import type { Column, FieldPath } from '../../src/contract/fields/column.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { ChildTable, Table } from '../../src/contract/fields/table.ts'
import type { Shown } from './source.ts'

/** A cell as text, or null. */
export type Cell = string | null

const at = (value: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>(
    (inner, step) => (typeof inner === 'object' && inner !== null ? (inner as Shown)[step] : undefined),
    value,
  )

const decimals: Readonly<Record<string, number>> = { number: 8, money: 4, quantity: 4, coordinate: 9 }

/** A stored or expected value in one form, so that 7.5 and 7.5000 are alike, and so are two ways to write an instant. */
export function plain(type: Column['type'], value: unknown): Cell {
  if (value === null || value === undefined) return null
  const scale = decimals[type]
  if (scale !== undefined) return Number(value).toFixed(scale)
  if (type === 'timestamp') return new Date(String(value)).toISOString()
  if (type === 'url') return String(value).replace(/[?#].*$/, '')
  return String(value)
}

/** Columns that repeat one field of the record. What is derived, free text or JSON has tests of its own. */
export function comparedColumns(table: Table): [string, Column][] {
  return Object.entries(table.columns).filter(
    ([, { source, type, privacy }]) => source.from === 'field' && type !== 'json' && privacy === 'open',
  )
}

/** What the contract does not list is published only when it is a word. */
const isPublished = (cell: string, values: Column['values']): boolean =>
  values === undefined || values.includes(cell) || /^[A-Za-z]\w{0,39}$/.test(cell)

export function expectedCell({ source, type, member, values }: Column, element: unknown): Cell {
  const value = source.from === 'field' ? at(element, source.path) : undefined
  const cell = plain(type, value)
  if (cell !== null && !isPublished(cell, values)) return '(other)'
  return member && (cell === null || cell === '') ? '-1' : cell
}

/** Elements of a child table in a record, in order. */
export function elementsOf(record: unknown, { lists, shape }: ChildTable): unknown[] {
  if (shape === 'single') return [at(record, lists[0] ?? [])].filter(one => one !== null && one !== undefined)
  return lists.reduce<unknown[]>(
    (elements, list) => elements.flatMap(element => (at(element, list) as unknown[] | undefined) ?? []),
    [record],
  )
}

/** Lists of objects below the record, which become rows of their own. */
export const comparedChildren = ({ table }: Resource): readonly ChildTable[] =>
  table.children.filter(({ shape }) => shape === 'object' || shape === 'single')
