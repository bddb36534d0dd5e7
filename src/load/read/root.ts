/** The stage of the records themselves. */
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { objectsEmpty } from './cast-check.ts'
import type { Spelling } from './columns.ts'
import { stageStatement } from './columns.ts'
import { keptColumns, noLists } from './lists.ts'
import type { Reader } from './pages.ts'
import { listed, type PageFile, perPage } from './pages.ts'
import { below, jsonPath, type StagePlan } from './plan.ts'
import { structType } from './struct-type.ts'

/**
 * The fields of a record become columns beside these: out of one struct, the binder would copy the type of the whole record
 * for every column, which took longer than to load 10,000 records.
 */
const own = { page: '__page', json: '__json', locator: '__locator', absent: '__absent' } as const

/** A document is taken whole, even where columns read parts of it; those tables are never read typed. */
const documentOf = (path: string, { kind }: Reader): string =>
  kind === 'typed' ? below('', path.split('.')) : `json_extract(${own.json}, ${quoteText(jsonPath(path))})`

/** Documents that become a row per leaf, under the names of their lists. */
const explodedColumns = ({ root }: StagePlan, reader: Reader): string[] =>
  root.lists
    .filter(({ child }) => child.shape === 'leaves')
    .map(({ name, child }) => `${documentOf((child.lists[0] ?? []).join('.'), reader)} as ${name}`)

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

/** Conditions for structure that the JSON reader lets pass; the typed reader fails on it. */
function misshapen(plan: StagePlan, { kind }: Reader): string[] {
  if (kind === 'typed') return [own.absent]
  // The reader writes JSON without leading space, so an object begins with its brace.
  return [
    ...objectsEmpty(plan.shape, ''),
    ...noLists(plan.root, ''),
    `not starts_with(cast(${own.json} as varchar), '{')`,
  ]
}

/** Creates stage_0: one typed row per record, with the presence or the elements of its lists. */
export function rootStage(plan: StagePlan, pages: readonly PageFile[], reader: Reader): string {
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
    `cast(${listed(pages, page => page.fetchedAt)} as timestamptz[])[${own.page}] as loaded_at`,
    `${perPage(pages, page => page.runId, own.page)} as run_id`,
    ...sourceTimes(plan),
    ...keptColumns(root, '', reader),
    ...explodedColumns(plan, reader),
    ...plan.documents.map(({ name, path }) => `${documentOf(path, reader)} as ${name}`),
  ]
  const beside = reader.kind === 'typed' ? `record is null as ${own.absent}` : `j as ${own.json}`
  const from = `(select locator as ${own.locator}, page as ${own.page}, ${beside}, record.*
    from (${reader.records(structType(plan.shape, reader))}))`
  return stageStatement(root, spelling, {
    columns,
    from,
    misshapen: misshapen(plan, reader),
    numbers: reader.numbers,
  })
}
