/** The stage of the records themselves. */
import type { Child } from '../../resources/table.ts'
import { storedTypes } from '../column-type.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import type { Spelling } from './columns.ts'
import { elements, type PageFile, perPage, type RowsAt } from './pages.ts'
import { below, type StagePlan } from './plan.ts'
import { noList, rawList } from './raw-list.ts'
import { stageStatement } from './statement.ts'
import { structType } from './struct-type.ts'

/** The JSON path of a document, for json_extract. */
export const jsonPath = (path: string): string => `$.${path.split('.').map(quoteName).join('.')}`

/**
 * The fields of a record stand as columns of their own beside these: reading them out of one struct would make the
 * binder copy the type of the whole record for every column, which took longer than loading 10,000 records.
 */
const own = { page: '__page', json: '__json', locator: '__locator' } as const

const documentOf = (path: string): string => `json_extract(${own.json}, ${quoteText(jsonPath(path))})`

/** A document whose keys are data is taken whole, whatever columns read parts of it. */
const listOf = (child: Child): string =>
  child.shape === 'leaves' ? documentOf((child.lists[0] ?? []).join('.')) : rawList(child, '')

function sourceTimes(plan: StagePlan): string[] {
  const { updatedAt, version } = plan.resource
  const at = (path: string | undefined, type: 'timestamp' | 'integer') =>
    path === undefined
      ? `cast(null as ${storedTypes[type].sql})`
      : storedTypes[type].cast(below('', path.split('.')))
  const text = updatedAt === undefined ? `cast(null as varchar)` : below('', updatedAt.split('.'))
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
    element: '',
    scope: name => perPage(pages, page => page.scope[name] ?? '-1', own.page),
    root: quoteName,
    parent: quoteName,
    ordinal: () => 'null',
  }
  const columns = [
    `${own.locator} as locator`,
    `cast(${perPage(pages, page => page.fetchedAt, own.page)} as timestamptz) as loaded_at`,
    `${perPage(pages, page => page.runId, own.page)} as run_id`,
    ...sourceTimes(plan),
    ...root.lists.map(({ name, child }) => `${listOf(child)} as ${name}`),
    ...plan.documents.map(({ name, path }) => `${documentOf(path)} as ${name}`),
  ]
  const from = `(select ${own.locator}, ${own.page}, ${own.json}, record.* from (
    select locator as ${own.locator}, page as ${own.page}, j as ${own.json},
      try_cast(j as ${structType(plan.shape)}) as record
    from (${elements(pages, rows)})))`
  // The reader writes JSON without leading space, so an object begins with its brace.
  const odd = [
    ...root.lists.flatMap(({ child }) => noList(child, '')),
    `not starts_with(cast(${own.json} as varchar), '{')`,
  ]
  return stageStatement(root, spelling, { columns, from, odd, shape: plan.shape })
}
