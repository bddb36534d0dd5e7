/** Fills the stage of the records themselves. */
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import type { Spelling } from './columns.ts'
import { stageStatement } from './columns.ts'
import { listColumns } from './lists.ts'
import type { PageReader } from './pages.ts'
import { listed, type PageFile, perPage } from './pages.ts'
import { below, jsonPath, type StagePlan } from './plan.ts'
import { structType } from './struct-type.ts'

/**
 * A record's fields become columns, next to these. If they came from one struct, the binder would copy the whole
 * record's type for every column, which took longer than loading 10,000 records.
 */
const own = { page: '__page', json: '__json', locator: '__locator' } as const

/** Takes a document as a whole, even if columns read parts of it; such tables are never read typed. */
const documentOf = (path: string, { kind }: PageReader): string =>
  kind === 'typed'
    ? below('', path.split('.'))
    : `nullif(json_extract(${own.json}, ${quoteText(jsonPath(path))}), cast('null' as json))`

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

/** Creates stage_0: a typed row for each record, with the presence or the elements of its lists. */
export function rootStage(plan: StagePlan, pages: readonly PageFile[], reader: PageReader): string {
  const { root } = plan
  const spelling: Spelling = {
    element: '',
    hasLong: reader.hasLong,
    document: path => documentOf(path.join('.'), reader),
    scope: name => perPage(pages, page => page.scope[name] ?? '-1', own.page),
    root: quoteName,
    parent: quoteName,
    ordinal: () => 'null',
  }
  const columns = [
    `${own.locator} as locator`,
    `cast(${listed(pages, page => page.fetchedAt)} as timestamptz[])[${own.page}] as loaded_at`,
    `${perPage(pages, page => page.runId, own.page)} as run_id`,
    ...sourceTimes(plan),
    ...listColumns(root, spelling, reader),
    ...plan.documents.map(({ name, path }) => `${documentOf(path, reader)} as ${name}`),
  ]
  const beside = reader.kind === 'typed' ? '' : `j as ${own.json}, `
  const from = `(select locator as ${own.locator}, page as ${own.page}, ${beside}record.*
    from (${reader.records(structType(plan.shape, reader.kind))}))`
  return stageStatement(root, spelling, { columns, from })
}
