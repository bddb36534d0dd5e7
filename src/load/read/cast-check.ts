/** The cast check: no value that is present in a record gets lost in a typed column unnoticed. */
import { declaredPaths, type ObjectShape, type ShapeNode } from '../../contract/derived/json-shape.ts'
import type { Column, ColumnType } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { expected } from '../page/expected.ts'
import { elements, type PageFile, type Reader, type RowsAt } from './pages.ts'
import { below, type StagePlan, type StageTable, shapePath } from './plan.ts'
import { isReadAsNumber, structType } from './struct-type.ts'

interface Field {
  readonly name: string
  readonly column: Column
  readonly text: string
}

function fieldsOf(table: Table, element: string): Field[] {
  return Object.entries(table.columns).flatMap(([name, column]) =>
    column.source.from === 'field' ? [{ name, column, text: below(element, column.source.path) }] : [],
  )
}

/** All numbers as they were read, as one list: one comparison costs a third of a condition per number. */
export function numbersRead(table: Table, element: string, numbers: Reader['numbers']): string {
  const read = fieldsOf(table, element)
    .filter(({ column }) => isReadAsNumber(column.type, { numbers }))
    .map(({ text }) => text)
  return `cast([${read.join(', ')}] as ${numbers}[])`
}

/** Whether a number was lost: as doubles, the numbers read and the typed columns differ, or fewer are present. */
export function numbersDiffer(table: Table, read: string, numbers: Reader['numbers']): string {
  const values = fieldsOf(table, '')
    .filter(({ column }) => isReadAsNumber(column.type, { numbers }))
    .map(({ name }) => `cast(${quoteName(name)} as double)`)
  if (values.length === 0) return 'false'
  const kept = `[${values.join(', ')}]`
  if (numbers === 'DOUBLE') return `${read} is distinct from ${kept}`
  return `list_count(${read}) <> list_count(${kept}) or try_cast(${read} as double[]) is distinct from ${kept}`
}

/** Conditions that another text was lost in its cast, or that a required one is absent. */
export function leavesDiffer(table: Table, element: string, numbers: Reader['numbers']): string[] {
  return fieldsOf(table, element).flatMap(({ column, text }) => {
    const stored = storedTypes[column.type]
    const missing = column.required ? [`${text} is null`] : []
    if (!stored.intact || isReadAsNumber(column.type, { numbers })) return missing
    return [...missing, `(${text} is not null and (${stored.intact(text, stored.cast(text))}) is not true)`]
  })
}

const json = { kind: 'json', numbers: 'VARCHAR' } as const

/** The struct that the cast makes of a value that is no object: all of its fields are NULL. */
function nothingIn(node: ObjectShape): string {
  return `{${[...node.fields].map(([key, next]) => `${quoteText(key)}: cast(null as ${structType(next, json)})`).join(', ')}}`
}

/** Conditions that an object has no declared field at all: the value may not be an object. */
export function objectsEmpty(node: ShapeNode, at: string): string[] {
  if (node.kind !== 'object') return []
  return [...node.fields].flatMap(([key, next]) => {
    const path = below(at, [key])
    if (next.kind !== 'object' || next.fields.size === 0) return []
    return [`(${path} is not distinct from ${nothingIn(next)})`, ...objectsEmpty(next, path)]
  })
}

function failureOf(type: ColumnType): string {
  const { cast, intact } = storedTypes[type]
  if (!intact) return 'null'
  const value = cast('text')
  // The search of the page has found lost digits: DuckDB's JSON has only so many of them.
  return `case when ${value} is null and not (${intact('text', value)}) is true then ${quoteText(`not ${expected[type]}`)} end`
}

/** SQL that gives NULL for a leaf that has a value in its column, else the reason why it has none. */
function failure(): string {
  const types = Object.keys(storedTypes) as ColumnType[]
  const leaves = types.map(type => `when d.type = ${quoteText(type)} then ${failureOf(type)}`)
  return `case
    when d.kind = 'object' then case when f.type in ('OBJECT', 'NULL') then null else 'not an object' end
    when d.kind = 'list' then case when f.type in ('ARRAY', 'NULL') then null else 'not a list' end
    when f.type = 'NULL' then null ${leaves.join(' ')} end`
}

function declaredValues(plan: StagePlan): string {
  const rows = declaredPaths(plan.shape).map(
    ({ path, kind, type }) => `(${quoteText(path)}, ${quoteText(kind)}, ${type ? quoteText(type) : 'null'})`,
  )
  return `(values ${rows.join(', ')}) d(path, kind, type)`
}

function requiredMissing(plan: StagePlan): string[] {
  return Object.values(plan.root.table.columns).flatMap(({ source, required }) =>
    required && source.from === 'field' ? [source.path.join('.')] : [],
  )
}

export interface CheckedStages {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Stages that hold rows. */
  readonly filled: readonly StageTable[]
}

/** Statements that create checked_record (locator, page, j) and cast_failure (locator, path, text, reason). */
function checkStatements({ plan, pages, rows }: CheckedStages, stages: readonly string[]): string[] {
  const locators = stages.map(stage => `select locator from ${stage} where needs_check`).join(' union ')
  const missing = requiredMissing(plan).map(
    path => `select locator, ${quoteText(path)} as path, null as text, 'missing' as reason from checked_record
      where json_type(j) = 'OBJECT' and json_extract_string(j, ${quoteText(`$.${path}`)}) is null`,
  )
  return [
    `create or replace temp table checked_record as
      select e.locator, e.page, e.j from (${elements(pages, rows)}) e
      where e.locator in (${locators})`,
    `create or replace temp table cast_failure as
      select * from (
        select f.locator, f.path, f.text, ${failure()} as reason from (
          select locator, substr(fullkey, 3) as path, ${shapePath('substr(fullkey, 3)')} as shape, type,
            coalesce(json_extract_string(atom, '$'), cast(value as varchar)) as text
          from checked_record, json_tree(j) where fullkey <> '$') f
        join ${declaredValues(plan)} on d.path = f.shape)
      where reason is not null
      union all select locator, '', coalesce(cast(j as varchar), 'null'), 'not an object' from checked_record
        where coalesce(json_type(j), 'NULL') <> 'OBJECT'
      ${missing.map(select => `union all ${select}`).join(' ')}`,
  ]
}

/** The stages that hold rows to check. A statement with a subquery a stage takes three times as long to plan. */
async function stagesToCheck(stage: Engine, filled: readonly StageTable[]): Promise<string[]> {
  if (filled.length === 0) return []
  const checks = filled.map(({ name }) => `select ${quoteText(name)} as name from ${name} where needs_check`)
  const rows = await stage.rows<{ name: string }>(
    `select distinct name from (${checks.join(' union all ')}) order by name`,
  )
  return rows.map(({ name }) => name)
}

export interface CastCheck {
  /** Records that lost a value; the reasons are in cast_failure, their JSON in checked_record. */
  readonly quarantined: number
}

/** Locators of the records that lost a value. */
export const lostRecords = 'select locator from cast_failure'

/** Checks each leaf of the records that need it. */
export async function castCheck(stage: Engine, checked: CheckedStages): Promise<CastCheck> {
  const stages = await stagesToCheck(stage, checked.filled)
  if (stages.length === 0) return { quarantined: 0 }
  for (const sql of checkStatements(checked, stages)) await stage.run(sql)
  const [lost] = await stage.rows<{ n: number }>(`select count(distinct locator) as n from (${lostRecords})`)
  return { quarantined: Number(lost?.n ?? 0) }
}
