/** The leaves that have no column: of JSON columns, and of fields that nobody declared. */
import { declaredPaths } from '../../contract/derived/json-shape.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { leafRows } from './leaf-rows.ts'
import { elements, type PageFile, type RowsAt } from './pages.ts'
import { isDenied, isPersonal } from './path-privacy.ts'
import type { StagePlan } from './plan.ts'
import { jsonPath } from './root.ts'

/** timelogs[3].hours.total and timelogs[].hours.total are the same place in the shape. */
export const shapePath = (path: string): string => `regexp_replace(${path}, '\\[\\d+\\]', '[]', 'g')`

/** Documents whose declaration restricts them: all of their leaves are, whatever their names. */
function isRestricted(plan: StagePlan, path: string): boolean {
  return Object.values(plan.root.table.columns).some(
    ({ source, privacy, type }) =>
      type === 'json' && privacy !== 'open' && source.from === 'field' && source.path.join('.') === path,
  )
}

function leavesOf(plan: StagePlan, document: StagePlan['documents'][number]): string {
  const declared = declaredPaths(plan.shape).filter(({ kind }) => kind === 'leaf')
  const elsewhere = declared.map(({ path }) => path).filter(path => path.startsWith(`${document.path}.`))
  const path = `${quoteText(`${document.path}.`)} || leaf.path`
  const not =
    elsewhere.length === 0 ? '' : `where ${shapePath('path')} not in (${elsewhere.map(quoteText).join(', ')})`
  return `select * from (
    select locator, ${path} as path, leaf.value as value_text, leaf.type as value_type,
      ${isRestricted(plan, document.path)} as restricted
    from (${leafRows(plan.root.name, document.name)})) ${not}`
}

/** Leaves at or below the undeclared paths, read again from the pages: drift is rare, so its cost is its own. */
function driftedLeaves(batch: DriftedBatch): string[] {
  const tops = [...new Set(batch.drifted.map(path => path.split(/[.[]/)[0] ?? path))]
  return tops.map(top => {
    const paths = batch.drifted.filter(path => (path.split(/[.[]/)[0] ?? path) === top)
    const under = paths.map(
      path =>
        `${shapePath('path')} = ${quoteText(path)} or starts_with(${shapePath('path')}, ${quoteText(`${path}.`)}) or starts_with(${shapePath('path')}, ${quoteText(`${path}[`)})`,
    )
    const source = `(select locator, {${quoteText(top)}: json_extract(j, ${quoteText(jsonPath(top))})}::json as document
      from (${elements(batch.pages, batch.rows)}) where json_extract(j, ${quoteText(jsonPath(top))}) is not null)`
    return `select * from (select locator, leaf.path as path, leaf.value as value_text, leaf.type as value_type, false as restricted
      from (${leafRows(source, 'document')})) where ${under.join(' or ')}`
  })
}

export interface DriftedBatch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Undeclared paths seen so far, [] for list elements. */
  readonly drifted: readonly string[]
}

/** Creates stage_leaf: locator, path, value_text, value_type, is_personal. */
export function leafStage(plan: StagePlan, batch: DriftedBatch): string {
  const sources = [...plan.documents.map(document => leavesOf(plan, document)), ...driftedLeaves(batch)]
  const empty = `select 0 as locator, '' as path, '' as value_text, '' as value_type, false as restricted where false`
  return `create or replace temp table stage_leaf as
    select locator, path,
      case when ${isDenied('path')} then '[not stored]' else value_text end as value_text, value_type,
      restricted or ${isPersonal('path')} or ${isDenied('path')} as is_personal
    from (${[empty, ...sources].join(' union all ')})`
}
