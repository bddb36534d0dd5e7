/**
 * A star as no service should leave it: of its rows some are missing or deleted, of its values some are missing, on a limit,
 * one that a statement asks for, or that of another row. What is drawn for a value depends on its row and column alone.
 */

import type { Engine } from '../../../src/warehouse/engine.ts'
import {
  historyOf,
  type PhysicalColumn,
  type PhysicalTable,
  physicalTables,
} from '../../../src/warehouse/schema/physical.ts'
import { tablesNamed } from '../../../src/warehouse/schema/schemas.ts'
import { sqlFiles } from '../../../src/warehouse/sql-files.ts'
import { quoteName, quoteNames, quoteText } from '../../../src/warehouse/sql-text.ts'
import { soughtWords } from './sought-words.ts'

/** Days before the last reading that some statement counts from, and their neighbours. */
export const limits = [
  ...[-8, -7, -1, 0, 1, 6, 7, 8, 13, 14, 15, 27, 28, 29, 30, 31, 42, 56, 60, 61, 90, 91],
  ...[-29, -30, -31, -60, -61, -90, -91],
]
const today = `date '2026-11-02'`

/** Each row is there so often, with ids of its own. */
const copies = 6

/** From 0 to 999; another for each of the digits 1, 8, 15 and 22. */
export const drawnFrom = (digit: number, parts: readonly string[]): string =>
  `(cast('0x' || substr(md5(${parts.join(` || '|' || `)}), ${digit}, 7) as integer) % 1000)`

export const drawn = (...parts: readonly string[]): string => drawnFrom(1, parts)

export const oneOf = (values: readonly (string | number)[], draw: string): string =>
  `([${values.map(value => (typeof value === 'string' ? quoteText(value) : value)).join(', ')}])[${draw} % ${values.length} + 1]`

type Others = readonly (readonly [below: number, value: string])[]

/** What takes the place of a value, by the upper end of what is drawn for it. */
function others({ name, sql }: PhysicalColumn, own: string, draw: string): Others {
  const limit = `${today} - ${oneOf(limits, draw)}`
  const sought = soughtWords[name]
  if (sql === 'date')
    return [
      [140, `${own} + (${draw} % 5 - 2)`],
      [300, limit],
    ]
  if (sql === 'timestamptz')
    return [
      [140, `${own} + to_hours(${draw} % 49 - 24)`],
      [240, `cast(${limit} as timestamptz) + to_hours(${draw} % 3)`],
    ]
  if (sql === 'boolean') return [[200, `not ${own}`]]
  if (/^(numeric|integer|bigint|double)/.test(sql))
    return [
      [130, 'null'],
      [180, '0'],
      [210, '1'],
      [230, `${own} + 1`],
      [250, `-${own}`],
    ]
  if (name.endsWith('_id')) return [[130, `'-1'`]]
  return sought ? [[250, oneOf(sought, draw)]] : []
}

const stamps = ['run_id', 'row_hash', 'valid_from', 'valid_to', 'first_loaded_at']

/** The id of a copy; what names no record names none in any copy. */
const copied = (own: string): string =>
  `case when ${own} = '-1' or copy.n = 0 then ${own} else ${own} || '~' || copy.n end`

const isId = ({ name, sql }: PhysicalColumn): boolean => sql === 'text' && /_(id|key)$/.test(name)

function worn(table: PhysicalTable, column: PhysicalColumn): string {
  const own = `mine.${quoteName(column.name)}`
  const key = `mine.${quoteName(table.key)}`
  if ([table.key, table.owner].includes(column.name)) return copied(own)
  if (stamps.includes(column.name)) return own
  const draw = drawn(key, 'cast(copy.n as text)', quoteText(column.name))
  if (column.name === 'is_deleted') return `${draw} < 60 or ${own}`
  const [mine, other] = [own, `other.${quoteName(column.name)}`].map(one =>
    isId(column) ? copied(one) : one,
  ) as [string, string]
  const cases = [
    `when ${key} = '-1' then ${own}`,
    `when ${draw} < 30 then null`,
    `when ${draw} < 90 then ${other}`,
    ...others(column, mine, draw).map(([below, value]) => `when ${draw} < ${below} then ${value}`),
  ]
  return `case ${cases.join(' ')} else ${mine} end`
}

const unworn = (column: PhysicalColumn): string =>
  isId(column) ? copied(`mine.${quoteName(column.name)}`) : `mine.${quoteName(column.name)}`

async function wearTable(engine: Engine, table: PhysicalTable, words: ReadonlySet<string>): Promise<void> {
  const place = `${table.schema}.${quoteName(table.name)}`
  const key = quoteName(table.key)
  await engine.run(
    `create temp table worn as
     with numbered as (
       select one.*, row_number() over (order by one.${key}, cast(one as text)) as place, count(*) over () as places
       from ${place} as one)
     select ${table.columns.map(column => `${words.has(column.name) ? worn(table, column) : unworn(column)} as ${quoteName(column.name)}`).join(', ')}
     from numbered as mine
     inner join numbered as other on other.place = (mine.place * 13 + 5) % mine.places + 1
     inner join (select cast(n as integer) as n from generate_series(0, ${copies - 1}) as s(n)) as copy
       on copy.n = 0 or mine.${key} <> '-1'
     where mine.${key} = '-1' or ${drawn(`mine.${key}`, 'cast(copy.n as text)')} >= 20`,
  )
  await engine.run(`delete from ${place}`)
  const names = quoteNames(table.columns.map(({ name }) => name))
  await engine.run(`insert into ${place} (${names}) select ${names} from worn`)
  await engine.run('drop table worn')
}

/** Some rows were another row before, up to three days ago. */
async function giveHistory(engine: Engine, table: PhysicalTable): Promise<void> {
  const history = historyOf(table)
  const names = quoteNames(table.columns.map(({ name }) => name))
  const draw = drawn(quoteName(table.key), `'before'`)
  await engine.run(
    `insert into ${history.schema}.${quoteName(history.name)} (${names}, valid_to)
     select * replace (valid_from - to_days(${draw} % 4) as valid_from), valid_from from
       (select ${names} from star.${quoteName(table.name)}) where ${draw} < 300`,
  )
}

/** Of all statements: what they do not name need not be worn. */
function textsRead(): readonly string[] {
  return ['mart', 'view', 'check'].flatMap(folder => sqlFiles(folder).map(({ text }) => text))
}

export function tablesRead(): readonly PhysicalTable[] {
  const read = new Set(textsRead().flatMap(tablesNamed))
  return physicalTables.filter(({ schema, name }) => read.has(`${schema}.${name}`))
}

export const wordsRead = (): ReadonlySet<string> =>
  new Set(textsRead().flatMap(text => text.match(/\w+/g) ?? []))

export async function wear(engine: Engine): Promise<void> {
  const words = wordsRead()
  const tables = tablesRead()
  for (const { name } of tables.filter(({ schema }) => schema === 'history')) {
    const now = tables.find(table => table.schema === 'star' && table.name === name)
    if (now) await giveHistory(engine, now)
  }
  for (const table of tables) await wearTable(engine, table, words)
}
