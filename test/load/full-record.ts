/** A record with a distinct value at every declared leaf, and how each value looks once it is stored. */

import { declaredPaths, openDocuments, shapeOf } from '../../src/contract/derived/json-shape.ts'
import type { ColumnType } from '../../src/contract/fields/column.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Table } from '../../src/contract/fields/table.ts'

export interface Leaf {
  readonly path: string
  /** As the service sends it. */
  readonly sent: unknown
  /** As text in some column; undefined for what has no value of its own to look for. */
  readonly stored: string | undefined
}

const dayMs = 86_400_000
/** So far back that no value lies ahead of the day on which it is fetched: such a time would order nothing. */
const since = Date.UTC(1950, 0, 1, 12)

const isoDay = (number: number): string => new Date(since + number * dayMs).toISOString().slice(0, 10)

const makers: Readonly<Record<ColumnType, (number: number) => Omit<Leaf, 'path'>>> = {
  // Also an id.
  text: number => ({ sent: `text-${number}`, stored: `text-${number}` }),
  url: number => ({
    sent: `https://files.example.com/${number}?token=planted#part`,
    stored: `https://files.example.com/${number}`,
  }),
  integer: number => ({ sent: 10_000 + number, stored: String(10_000 + number) }),
  number: number => decimal(number),
  money: number => decimal(number),
  quantity: number => decimal(number),
  coordinate: number => ({ sent: 10 + number / 1000, stored: String(10 + number / 1000) }),
  boolean: () => ({ sent: true, stored: undefined }),
  timestamp: number => {
    const time = new Date(since + number * dayMs + number).toISOString()
    return { sent: time, stored: time }
  },
  day: number => ({ sent: isoDay(number), stored: isoDay(number) }),
  dayMonthYear: number => ({ sent: isoDay(number).split('-').reverse().join('/'), stored: isoDay(number) }),
  json: number => ({
    sent: {
      deep: [`text ${number}`],
      file: `https://files.example.com/json/${number}?token=planted&"quoted"`,
    },
    stored: `text ${number}`,
  }),
}

function decimal(number: number): Omit<Leaf, 'path'> {
  const value = Number(`${number}.${String(1000 + (number % 9000)).slice(-4)}`)
  return { sent: value, stored: String(value) }
}

/** Values the contract lists, by path. */
function listedValues(table: Table, at = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const { source, values } of Object.values(table.columns))
    if (values?.[0] && source.from === 'field') found.set(at + source.path.join('.'), values.at(-1)!)
  for (const child of table.children) {
    const lists = child.lists.map(path => path.join('.')).join('[].')
    const below = child.shape === 'single' ? `${at}${lists}.` : `${at}${lists}[].`
    for (const [path, value] of listedValues(child.table, below)) found.set(path, value)
  }
  return found
}

/** `offset` tells one version's values from another's. */
export function leavesOf(resource: Resource, offset: number): Leaf[] {
  const listed = listedValues(resource.table)
  let number = offset
  const declared = declaredPaths(shapeOf(resource.table)).flatMap(({ path, kind, type }): Leaf[] => {
    if (kind !== 'leaf' || !type) return []
    number += 1
    const value = listed.get(path)
    if (value !== undefined) return [{ path, sent: value, stored: value }]
    return [{ path, ...makers[type](number) }]
  })
  const paths = new Set(declared.map(({ path }) => path))
  const open = openDocuments(resource.table).filter(({ path }) => !paths.has(path))
  const further = [...open.map(({ path }) => `${path}.unheardOf`), 'unheardOf.thing'].map(path => {
    number += 1
    return { path, ...makers.text(number) }
  })
  return [...declared, ...further]
}

/** The record that holds them; every list has one element. */
export function recordOf(leaves: readonly Leaf[]): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const { path, sent } of leaves) {
    const steps = path.split('.').flatMap(step => (step.endsWith('[]') ? [step.slice(0, -2), 0] : [step]))
    let at = record as Record<string | number, unknown>
    steps.forEach((step, index) => {
      const next = steps[index + 1]
      if (next === undefined) at[step] = sent
      else at[step] ??= next === 0 ? [] : {}
      at = at[step] as Record<string | number, unknown>
    })
  }
  return record
}
