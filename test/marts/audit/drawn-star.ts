/**
 * A dense star, drawn from nothing: few companies, workers and agencies share many rows, so that groups have several rows, equal
 * values tie, partners are missing and values stand on limits. What is drawn for a value depends on its table, row and column.
 */
import { createHash } from 'node:crypto'
import type { Engine } from '../../../src/warehouse/engine.ts'
import type { PhysicalColumn, PhysicalTable } from '../../../src/warehouse/schema/physical.ts'
import { quoteName, quoteNames } from '../../../src/warehouse/sql-text.ts'
import { drawnValue } from './drawn-values.ts'
import { soughtWords } from './sought-words.ts'
import { drawn, drawnFrom, oneOf, tablesRead, wordsRead } from './worn-star.ts'

export interface DrawnStar {
  readonly seed: number
  /** The Sunday of its newest week. */
  readonly newest: string
  /** Whatever is no id, day or word is one of them. */
  readonly numbers: readonly number[]
  /** Columns of which nothing at all is known. */
  readonly unknown: readonly string[]
}

const rowsIn: Readonly<Record<string, number>> = {
  dim_company: 14,
  dim_company_setting: 60,
  dim_purchase_order: 20,
  dim_rate: 40,
  fact_requisition: 40,
  fact_assignment: 120,
  fact_timesheet: 320,
  fact_timelog: 500,
  fact_invoice: 120,
  fact_credit_note: 60,
  bridge_invoice_timesheet: 260,
}

function rowsOf(name: string): number {
  const others = name.startsWith('dim_') ? 7 : name.startsWith('fact_') ? 200 : 120
  return rowsIn[name] ?? others
}

/** Ids of records without a table of their own, such as workers. */
const otherIds = 8

/** A record mostly has the company, project and worker of the one that it belongs to. */
const belongsTo: Readonly<Record<string, string>> = {
  fact_assignment: 'requisition_id',
  fact_timesheet: 'assignment_id',
  fact_expense: 'timesheet_id',
  fact_credit_note: 'invoice_id',
}

/** Columns whose names do not say whose ids they have. */
const idsIn: Readonly<Record<string, string>> = {
  competency_entry_key: 'assignment_id',
  entity_id: 'rate_id',
  msp_id: 'msp_id',
  purchase_order_id: 'purchase_order_reference_key',
  purchase_order_reference_key: 'purchase_order_reference_key',
}

/** They come with the warehouse, and other rows name them. */
const fixed = ['dim_recruitment_stage', 'attribute_leaf']

const never = ['is_deleted', 'is_inferred', 'valid_from', 'status']

const isAlwaysKnown = (table: PhysicalTable, { name }: PhysicalColumn): boolean =>
  name === table.key || never.includes(name) || /^shift_.*_(start|end)$/.test(name)

/** The draw below which a value is missing: half of the columns always have one, and a few never do, as some rules ask whether a thing is known at all. */
function missingBelow({ seed, unknown }: DrawnStar, table: PhysicalTable, column: PhysicalColumn): number {
  if (unknown.includes(column.name)) return 1000
  if (isAlwaysKnown(table, column)) return 0
  const share =
    createHash('md5').update(`${seed} ${table.name} ${column.name}`).digest().readUInt16BE(0) % 100
  return share < 4 ? 1000 : share < 50 ? 0 : 110
}

interface Drawing extends DrawnStar {
  readonly tables: readonly PhysicalTable[]
  readonly statuses: ReadonlyMap<string, readonly string[]>
  /** Columns that no statement names stay empty. */
  readonly words: ReadonlySet<string>
}

const withKey = ({ tables }: Drawing, key: string): PhysicalTable | undefined =>
  tables.find(table => table.key === key && !fixed.includes(table.name))

function idsOf(drawing: Drawing, column: string): { readonly key: string; readonly count: number } {
  const name = idsIn[column] ?? column
  const table =
    withKey(drawing, name) ??
    drawing.tables.find(({ key }) => name.endsWith(`_${key}`) && withKey(drawing, key))
  return table ? { key: table.key, count: rowsOf(table.name) } : { key: name, count: otherIds }
}

function own(drawing: Drawing, table: PhysicalTable, column: PhysicalColumn): string {
  const { seed, numbers, newest, statuses } = drawing
  const kind = table.name.replace(/^(fact|dim|bridge)_/, '')
  const parts = [`'${seed} ${table.schema}.${table.name}'`, `'${column.name}'`, 'cast(n as text)']
  const [one, two, missing] = [1, 8, 15].map(from => drawnFrom(from, parts)) as [string, string, string]
  if (column.name === table.key && table.schema === 'star') return `'${column.name} ' || n`
  const value = drawnValue(column, kind, {
    one,
    two,
    numbers,
    newest,
    statuses: statuses.get(kind) ?? soughtWords.status ?? [],
    idsOf: name => idsOf(drawing, name),
  })
  // Two versions of a record do not begin at once: which was first would be chance.
  if (table.schema === 'history' && column.name === 'valid_from') return `${value} + to_seconds(n)`
  const below = missingBelow(drawing, table, column)
  return below === 0 ? value : `case when ${missing} >= ${below} then ${value} end`
}

interface Parent {
  readonly column: string
  readonly table: PhysicalTable
}

function parentOf(drawing: Drawing, { name, key, owner }: PhysicalTable): Parent | undefined {
  const column = belongsTo[name] ?? (owner === key ? undefined : owner)
  const table = column === undefined ? undefined : withKey(drawing, column)
  return column === undefined || !table || table.name === name ? undefined : { column, table }
}

/** The ids, types and weeks of the record that it belongs to, mostly. */
function inherited(drawing: Drawing, table: PhysicalTable, { name }: PhysicalColumn): string {
  const parent = parentOf(drawing, table)
  const mine = `own.${quoteName(name)}`
  const isTheirs = parent?.table.columns.some(column => column.name === name)
  if (!isTheirs || [table.key, parent?.column].includes(name) || !/_(id|type)$|^week_ending_date$/.test(name))
    return mine
  const draw = drawn(`'${drawing.seed} ${table.name}'`, `'${name} inherited'`, 'cast(own.n as text)')
  return `case when ${draw} < 850 then coalesce(parent.${quoteName(name)}, ${mine}) else ${mine} end`
}

/** Leaves a column empty in all rows of some records and some companies, so that the sum of a whole group may be missing. */
function oftenMissing(drawing: Drawing, table: PhysicalTable, column: PhysicalColumn): string {
  const value = inherited(drawing, table, column)
  if (isAlwaysKnown(table, column) || !/^(numeric|bigint|date|timestamptz)/.test(column.sql)) return value
  const groups = [
    ...(table.owner === table.key ? [] : [`own.${quoteName(table.owner)}`]),
    ...(table.columns.some(({ name }) => name === 'company_id') ? ['own.company_id'] : []),
  ]
  const draws = groups.map(
    group => `${drawn(`'${drawing.seed} ${table.name} ${column.name}'`, `coalesce(${group}, '')`)} >= 80`,
  )
  return draws.length === 0 ? value : `case when ${draws.join(' and ')} then ${value} end`
}

async function fillTable(engine: Engine, drawing: Drawing, table: PhysicalTable): Promise<void> {
  const place = `${table.schema}.${quoteName(table.name)}`
  const key = quoteName(table.key)
  const parent = parentOf(drawing, table)
  const join = parent
    ? `left join star.${quoteName(parent.table.name)} as parent on parent.${quoteName(parent.table.key)} = own.${quoteName(parent.column)}`
    : ''
  const columns = table.columns.filter(
    ({ name }) => [table.key, table.owner].includes(name) || drawing.words.has(name),
  )
  const values = columns.map(column => `${own(drawing, table, column)} as ${quoteName(column.name)}`)
  await engine.run(`delete from ${place} where ${key} is distinct from '-1'`)
  await engine.run(
    `insert into ${place} (${quoteNames(columns.map(({ name }) => name))})
     with own as (select n, ${values.join(', ')} from generate_series(1, ${rowsOf(table.name)}) as s(n))
     select ${columns.map(column => oftenMissing(drawing, table, column)).join(', ')} from own ${join}`,
  )
}

/** Brings about what draws alone hardly ever do: days of work in their week, ends after starts, invoices that match, or nearly. */
const arrangements: readonly string[] = [
  // The other eight companies have no timesheets.
  `update star.fact_timesheet set company_id = 'company_id 1' where company_id not in ('company_id 2', 'company_id 3', 'company_id 4', 'company_id 5', 'company_id 6', '-1')`,
  ...['fact_timelog', 'fact_piece_rate_line'].map(
    name => `update star.${name} as l set work_date = t.week_ending_date - ${drawn('l.timesheet_id', 'cast(l.work_date as text)')} % 8
             from star.fact_timesheet as t where t.timesheet_id = l.timesheet_id and t.week_ending_date is not null`,
  ),
  `update star.fact_timelog set start_at = cast(work_date as timestamptz) + to_hours(${drawn('timelog_id')} % 24)
   where start_at is not null and work_date is not null`,
  `update star.fact_timesheet set week_ending_at = cast(week_ending_date as timestamptz)
     + case when ${drawn('timesheet_id')} % 3 = 0 then interval '22 hours 59 minutes' else interval '0 hours' end`,
  `update star.fact_timelog set end_at = start_at + to_hours(${drawn('timelog_id', `'end'`)} % 15 + 1) where end_at is not null`,
  ...['fact_assignment', 'dim_purchase_order'].map(
    name => `update star.${name} set end_date = start_date + ${drawn('reference', 'cast(start_date as text)')} % 150 - 5
             where end_date is not null and start_date is not null and ${drawn('reference', 'cast(end_date as text)')} < 600`,
  ),
  `update star.fact_requisition_agency as a set accepted_at = r.approved_at + to_hours(${drawn('a.requisition_agency_key')} % 10 * 12 - 12)
   from star.fact_requisition as r where r.requisition_id = a.requisition_id and a.accepted_at is not null`,
  `update star.fact_invoice as i
   set subtotal = named.charge + ${drawn('i.invoice_id', `'expenses'`)} % 2 * coalesce(i.expenses, 0)
     + (${drawn('i.invoice_id', `'pieces'`)} % 3 - 1) * named.pieces + ${oneOf([0, 0, 0.01, -0.01, 0.02], drawn('i.invoice_id', `'rest'`))}
   from (
     select b.invoice_id, sum(coalesce(t.charge_total, 0)) as charge, sum(coalesce(p.value, 0)) as pieces
     from (select distinct invoice_id, timesheet_id from star.bridge_invoice_timesheet where not is_deleted) as b
     inner join star.fact_timesheet as t on t.timesheet_id = b.timesheet_id and not t.is_deleted
     left join (
       select timesheet_id, sum(total_charge_value) as value from star.fact_piece_rate_entry where not is_deleted group by 1
     ) as p on p.timesheet_id = t.timesheet_id
     group by b.invoice_id
   ) as named
   where named.invoice_id = i.invoice_id and ${drawn('i.invoice_id')} < 700`,
]

async function statusesOf(engine: Engine): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await engine.rows<{ entity: string; status: string }>(
    'select entity, status from star.dim_entity_status order by entity, status',
  )
  const kinds = new Map<string, string[]>()
  for (const { entity, status } of rows) {
    const again = soughtWords.status?.includes(status) ? [status, status] : [status]
    kinds.set(entity, [...(kinds.get(entity) ?? []), ...again])
  }
  return kinds
}

export async function drawStar(engine: Engine, star: DrawnStar): Promise<void> {
  const tables = tablesRead().filter(({ name }) => !fixed.includes(name))
  const drawing = { ...star, tables, statuses: await statusesOf(engine), words: wordsRead() }
  const done = new Set<PhysicalTable>()
  const fill = async (table: PhysicalTable): Promise<void> => {
    if (done.has(table)) return
    done.add(table)
    const parent = parentOf(drawing, table)
    if (parent) await fill(parent.table)
    await fillTable(engine, drawing, table)
  }
  for (const table of tables) await fill(table)
  for (const statement of arrangements) await engine.run(statement)
}
