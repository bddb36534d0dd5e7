/** The stage of the records themselves. */
import { declaredPaths } from '../../resources/json-shape.ts'
import type { Child } from '../../resources/table.ts'
import { storedTypes } from '../column-type.ts'
import { quoteName, quoteNames, quoteText } from '../sql-text.ts'
import { directColumns, hashedColumns, type Spelling, suspicion, withDerived } from './columns.ts'
import { elements, type PageFile, perPage, type RowsAt } from './pages.ts'
import { below, type StagePlan } from './plan.ts'
import { structType } from './struct-type.ts'

/** The JSON path of a document, for json_extract. */
export const jsonPath = (path: string): string => `$.${path.split('.').map(quoteName).join('.')}`

const documentOf = (path: string): string => `json_extract(j, ${quoteText(jsonPath(path))})`

function rawList(child: Child): string {
  const path = (child.lists[0] ?? []) as readonly string[]
  if (child.shape === 'leaves') return documentOf(path.join('.'))
  const at = below('s', path)
  return child.shape === 'single' ? `case when ${at} is null then null else [${at}] end` : at
}

/** A list that is absent and a list that is no list look alike in the struct; the JSON tells. */
function listSuspicions(plan: StagePlan): string[] {
  return declaredPaths(plan.shape)
    .filter(({ path, kind }) => kind === 'list' && !path.includes('[]'))
    .map(({ path }) => {
      const type = `json_type(j, ${quoteText(jsonPath(path))})`
      return `case when ${below('s', path.split('.'))} is null then coalesce(${type} not in ('NULL', 'ARRAY'), false) else false end`
    })
}

function sourceTimes(plan: StagePlan): string[] {
  const { updatedAt, version } = plan.resource
  const at = (path: string | undefined, type: 'timestamp' | 'integer') =>
    path === undefined
      ? `cast(null as ${storedTypes[type].sql})`
      : storedTypes[type].cast(below('s', path.split('.')))
  const text = updatedAt === undefined ? `cast(null as varchar)` : below('s', updatedAt.split('.'))
  return [
    `${at(updatedAt, 'timestamp')} as source_updated_at`,
    `${at(version, 'integer')} as source_version`,
    `${text} as source_updated_text`,
  ]
}

/** Creates stage_0: one row per record of the pages, typed, with the raw lists of its children. */
export function rootStage(plan: StagePlan, pages: readonly PageFile[], rows: RowsAt): string {
  const { root } = plan
  const spelling: Spelling = {
    element: 's',
    scope: name => perPage(pages, page => page.scope[name] ?? '-1'),
    root: quoteName,
    parent: quoteName,
    ordinal: () => 'null',
  }
  const suspicions = [
    suspicion(root, spelling, plan.shape),
    ...listSuspicions(plan),
    `json_type(j) <> 'OBJECT'`,
  ]
  const direct = [
    'locator',
    `cast(${perPage(pages, page => page.fetchedAt)} as timestamptz) as loaded_at`,
    `${perPage(pages, page => page.runId)} as run_id`,
    ...sourceTimes(plan),
    ...directColumns(root.table, spelling),
    ...root.lists.map(({ name, child }) => `${rawList(child)} as ${name}`),
    ...plan.documents.map(({ name, path }) => `${documentOf(path)} as ${name}`),
    `(${suspicions.join(' or ')}) as suspect`,
  ]
  const typed = `select ${direct.join(', ')} from (
    select locator, page, j, try_cast(j as ${structType(plan.shape)}) as s from (${elements(pages, rows)}))`
  return `create or replace temp table ${root.name} as
    select *, hash(${quoteNames(hashedColumns(root.table))}) as own_hash from (${withDerived(root.table, typed)})`
}
