/**
 * A sound warehouse with small errors for checks to find: of each column that checks name, a few rows have a value beside each
 * limit, none, or that of another column, once in a live row, once in a deleted one; some rows are gone, and some twice.
 */
import { type Check, writtenChecks } from '../../src/marts/checks/check.ts'
import { type CheckResult, runCheck } from '../../src/marts/checks/run.ts'
import { type MartColumn, readMarts } from '../../src/marts/mart.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import {
  type PhysicalColumn,
  type PhysicalTable,
  physicalTables,
} from '../../src/warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../src/warehouse/sql-text.ts'
import { soughtWords } from './audit/sought-words.ts'
import { checkMoment, withPlanted } from './planted.ts'

type Kind = 'number' | 'time' | 'day' | 'boolean' | 'id' | 'text'

interface Column {
  readonly name: string
  readonly kind: Kind
}

function kindOf(name: string, type: string): Kind {
  if (type === 'date') return 'day'
  if (type.startsWith('timestamp')) return 'time'
  if (type === 'boolean') return 'boolean'
  if (/^(numeric|integer|bigint|double)/.test(type)) return 'number'
  return /_(id|key)$/.test(name) ? 'id' : 'text'
}

/** On both sides of every limit that a check allows to an amount. */
const steps = ['1', '0.01', '0.02', '0.05', '0.06', '-0.05', '-0.06', '-1']

/** What takes the place of a value; the first one is an error wherever the column matters. */
function errorsOf({ name, kind }: Column, all: readonly Column[]): readonly string[] {
  const own = quoteName(name)
  if (kind === 'number') return [...steps.map(step => `${own} + ${step}`), 'null', '0', `-${own}`]
  if (kind === 'boolean') return [`not ${own}`, 'null']
  if (kind === 'id') return [quoteText('of no row'), 'null', quoteText('-1')]
  if (kind === 'text') return [quoteText('other'), 'null', ...(soughtWords[name] ?? []).map(quoteText)]
  const day = kind === 'day' ? '1' : `interval '1 day'`
  const others = all.filter(other => other.kind === kind && other.name !== name)
  return [
    ...[`${own} - ${day}`, `${own} + ${day}`, 'null'],
    ...others.flatMap(other => [quoteName(other.name), `${quoteName(other.name)} - ${day}`]),
  ]
}

interface Slot {
  readonly column: string
  readonly error: string
  readonly state: 'live' | 'deleted' | 'twice'
}

const slotsOf = (columns: readonly Column[]): readonly Slot[] =>
  columns.flatMap(column =>
    errorsOf(column, columns).flatMap((error, place): Slot[] =>
      (place === 0 ? (['live', 'deleted', 'twice'] as const) : (['live', 'deleted'] as const)).map(state => ({
        column: column.name,
        error,
        state,
      })),
    ),
  )

/** Money is checked for what holds in 95% of the rows. */
const rowsPerSlot = 8

function wornColumn({ name, kind }: Column, slots: readonly Slot[]): string {
  const own = quoteName(name)
  const cases = slots.flatMap((slot, place) =>
    slot.column === name ? [`when place = ${place + 1} then ${slot.error}`] : [],
  )
  // None and zero are the same to a sum.
  if (kind === 'number') cases.push(`when ${own} = 0 and place % 10 = 0 then null`)
  return `case ${cases.join(' ')} else ${own} end as ${own}`
}

/** The words of all checks: what they do not name has no errors. */
const words = new Set(
  writtenChecks()
    .flatMap(({ parts }) => parts.map(({ select }) => select))
    .flatMap(text => text.match(/\w+/g) ?? []),
)

const isWorn = (table: PhysicalTable, { name }: PhysicalColumn): boolean =>
  words.has(name) && ![table.key, table.owner, 'is_deleted', 'is_inferred'].includes(name)

async function wearTable(engine: Engine, table: PhysicalTable): Promise<void> {
  const place = `star.${quoteName(table.name)}`
  const key = quoteName(table.key)
  const columns = table.columns
    .filter(column => isWorn(table, column))
    .map(({ name, sql }) => ({ name, kind: kindOf(name, sql) }))
  const slots = slotsOf(columns)
  const [{ rows = 0 } = {}] = await engine.rows<{ rows: number }>(
    `select count(*) as rows from ${place} where ${key} <> '-1'`,
  )
  const copies = Math.ceil((rowsPerSlot * slots.length) / Math.max(1, Number(rows)))
  const placesOf = (state: Slot['state']): string =>
    slots.flatMap((slot, at) => (slot.state === state ? [at + 1] : [])).join(', ') || '0'
  const ids = [...new Set([table.key, table.owner])].map(quoteName)
  const replaced = [
    ...ids.map(id => `case when copy = 0 then ${id} else ${id} || '~' || copy end as ${id}`),
    `is_deleted or place in (${placesOf('deleted')}) as is_deleted`,
    ...columns.map(column => wornColumn(column, slots)),
  ]
  await engine.run(
    `create temp table worn as
     with numbered as (
       select one.*, copy.n as copy,
         row_number() over (order by one.is_deleted, md5(one.${key} || '~' || copy.n), cast(one as text)) as place
       from ${place} as one cross join generate_series(0, ${Math.max(0, copies - 1)}) as copy(n)
       where one.${key} <> '-1')
     select numbered.* exclude (place, copy) replace (${replaced.join(', ')})
     from numbered
     left join (values (1), (2)) as times(n) on times.n = 1 or place in (${placesOf('twice')})
     where place not between ${slots.length + 1} and ${slots.length + 3}`,
  )
  await engine.run(`delete from ${place} where ${key} <> '-1'`)
  await engine.run(`insert into ${place} by name select * from worn`)
  await engine.run('drop table worn')
}

/** Of the tables of the star that checks read. */
export async function plantSmallErrors(engine: Engine): Promise<void> {
  const read = new Set(writtenChecks().flatMap(({ parts }) => parts.flatMap(part => part.reads)))
  for (const table of physicalTables)
    if (table.schema === 'star' && read.has(`star.${table.name}`)) await wearTable(engine, table)
}

const marts = new Map(readMarts().map(mart => [`mart.${mart.name}`, mart]))

/** What becomes of one column of a mart, in all rows or in a third of them, whatever their order. */
function martErrors(
  { name, type }: MartColumn,
  third: string,
): readonly (readonly [error: string, where: string])[] {
  const own = quoteName(name)
  const kind = kindOf(name, type)
  if (kind === 'number')
    return [`${own} + 1`, `${own} - 1`, 'null'].map((error, at) => [error, at === 0 ? 'true' : third])
  if (kind === 'boolean')
    return [
      [`not ${own}`, 'true'],
      [`not ${own}`, third],
      ['null', third],
    ]
  if (kind === 'day')
    return [
      [`${own} + 7`, third],
      ['null', third],
    ]
  return [kind === 'time' ? ['null', third] : [quoteText('other'), third], ['null', third]]
}

/** A column that a check compares with another of the same row, or with a number. */
const compared = /\b\w+\.(\w+) (?:[<>]=?|<>|=) (?:\w+\.(\w+)|\d+)/g

/** The column is as large as what it is compared with, and a little larger or smaller. */
function atLimits(select: string, names: ReadonlySet<string>): readonly string[] {
  return [...select.matchAll(compared)].flatMap(([text, one = '', other]) => {
    if (!names.has(one) || (other !== undefined && !names.has(other))) return []
    const limit = other === undefined ? text.slice(text.lastIndexOf(' ') + 1) : quoteName(other)
    return ['', ' + 1', ' - 1'].map(step => `${quoteName(one)} = ${limit}${step}`)
  })
}

/** Statements that each alter one column of the mart that the check reads. */
function errorsIn({ parts }: Check): readonly string[] {
  return parts.flatMap(({ reads, select }) => {
    const named = new Set(select.match(/\w+/g) ?? [])
    const mart = reads.map(table => marts.get(table)).find(Boolean)
    if (!mart) return []
    const texts = mart.columns.filter(({ name, type }) => ['id', 'text', 'day'].includes(kindOf(name, type)))
    const key = texts.map(({ name }) => `cast(${quoteName(name)} as text)`).join(', ')
    const third = `cast('0x' || substr(md5(concat_ws('|', ${key})), 1, 7) as integer) % 3 = 0`
    const columns = mart.columns.filter(({ name }) => named.has(name))
    const numbers = columns
      .filter(({ name, type }) => kindOf(name, type) === 'number')
      .map(({ name }) => name)
    return [
      ...columns.flatMap(column =>
        martErrors(column, third).map(
          ([error, where]) => `${quoteName(column.name)} = ${error} where ${where}`,
        ),
      ),
      ...atLimits(select, new Set(numbers)),
    ].map(change => `update mart.${mart.name} set ${change}`)
  })
}

export const foundIn = async (engine: Engine, check: Check): Promise<CheckResult['failures']> =>
  (await runCheck(engine, check, checkMoment)).failures

/** What the check finds with each error in one column of its mart, in order; until `isWanted` wants no more. */
export async function foundInMart(
  engine: Engine,
  check: Check,
  isWanted: (found: string, place: number) => boolean = () => true,
): Promise<readonly string[]> {
  const all: string[] = []
  for (const error of errorsIn(check)) {
    const found = JSON.stringify(await withPlanted(engine, [error], engine => foundIn(engine, check)))
    all.push(found)
    if (!isWanted(found, all.length - 1)) break
  }
  return all
}
