/** The close look at suspect records: which of their leaves did not survive, and why. */

import { declaredPaths } from '../../contract/derived/json-shape.ts'
import type { ColumnType } from '../../contract/fields/column.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { shapePath } from './attribute-leaves.ts'
import { elements, type PageFile, type RowsAt } from './pages.ts'
import type { StagePlan } from './plan.ts'

/** Names of the types as a reader of the quarantine understands them. */
const expected: Readonly<Record<ColumnType, string>> = {
  text: 'a text',
  url: 'an address',
  integer: 'a whole number',
  number: 'a number',
  money: 'an amount',
  quantity: 'a number',
  coordinate: 'a number',
  boolean: 'true or false',
  timestamp: 'a date and time',
  day: 'a day',
  dayMonthYear: 'a day as DD/MM/YYYY',
  json: 'JSON',
}

function leafVerdict(type: ColumnType): string {
  const { cast, intact } = storedTypes[type]
  if (!intact) return 'null'
  const value = cast('text')
  return `case when (${intact('text', value)}) then null when ${value} is null then ${quoteText(`not ${expected[type]}`)} else 'rounded' end`
}

/** NULL when the leaf is as declared, 'rounded' when digits would be lost, else what is wrong with it. */
function verdict(): string {
  const types = Object.keys(storedTypes) as ColumnType[]
  const leaves = types.map(type => `when d.type = ${quoteText(type)} then ${leafVerdict(type)}`)
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

export interface Suspects {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Tables whose suspect rows count, by name. */
  readonly stages: readonly string[]
}

/** Creates suspect_record (locator, j) and stage_verdict (locator, path, text, reason). */
export function verdictStages(plan: StagePlan, suspects: Suspects): string[] {
  const locators = suspects.stages.map(stage => `select locator from ${stage} where suspect`).join(' union ')
  const missing = requiredMissing(plan).map(
    path => `select locator, ${quoteText(path)} as path, null as text, 'missing' as reason from suspect_record
      where json_type(j) = 'OBJECT' and json_extract_string(j, ${quoteText(`$.${path}`)}) is null`,
  )
  return [
    `create or replace temp table suspect_record as
      select e.locator, e.page, e.j from (${elements(suspects.pages, suspects.rows)}) e
      where e.locator in (${locators})`,
    `create or replace temp table stage_verdict as
      select * from (
        select f.locator, f.path, f.text, ${verdict()} as reason from (
          select locator, substr(fullkey, 3) as path, ${shapePath('substr(fullkey, 3)')} as shape, type,
            coalesce(json_extract_string(atom, '$'), cast(value as varchar)) as text
          from suspect_record, json_tree(j) where fullkey <> '$') f
        join ${declaredValues(plan)} on d.path = f.shape)
      where reason is not null
      union all select locator, '', coalesce(cast(j as varchar), 'null'), 'not an object' from suspect_record
        where coalesce(json_type(j), 'NULL') <> 'OBJECT'
      ${missing.map(select => `union all ${select}`).join(' ')}`,
  ]
}
