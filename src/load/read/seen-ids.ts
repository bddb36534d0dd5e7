/** The ids on the pages of a batch, those of quarantined records included. */
import type { Column } from '../../contract/fields/column.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { create } from './create-stage.ts'
import { elements, type PageFile, perPageNumber, positionsPerPage, type RowsAt } from './pages.ts'
import type { StagePlan } from './plan.ts'

/** Columns first_pass, last_pass and front_pass of stage_seen: the passes of a scan that saw an id on these pages. */
function seenPasses(pages: readonly PageFile[]): string {
  const page = `locator // ${positionsPerPage}`
  const pass = perPageNumber(pages, one => one.pass, page)
  const front = perPageNumber(pages, one => (one.isFront ? one.pass : undefined), page)
  return `min(${pass}) as first_pass, max(${pass}) as last_pass, max(${front}) as front_pass`
}

/** Milliseconds since the epoch; null for a column that the resource does not have. */
const millis = (column: string | undefined): string =>
  column === undefined ? 'cast(null as bigint)' : `epoch_ms(${column})`

/** In bytes: a server has no index for longer texts, and such an id goes to quarantine. */
const longestSeenId = 200

const isCreatedAt = ({ source }: Column): boolean =>
  source.from === 'field' && source.path.join('.') === 'createdAt'

/**
 * Creates stage_seen: the ids on the pages, with those of records that will be quarantined, a time at which each existed, and
 * when it changed last.
 */
function seenStage({ root, resource }: StagePlan, pages: readonly PageFile[]): string {
  const key = quoteName(root.table.key)
  const created = Object.entries(root.table.columns).find(([, column]) => isCreatedAt(column))?.[0]
  const changed = millis(resource.updatedAt === undefined ? undefined : 'source_updated_at')
  return `create or replace temp table stage_seen as
    select case when strlen(${key}) <= ${longestSeenId} then ${key} else 'long id: ' || md5(${key}) end as id, ${seenPasses(pages)},
      min(least(${millis(created && quoteName(created))}, ${changed})) as existed_at, max(${changed}) as changed_at
    from ${root.name} where ${key} is not null group by 1`
}

/**
 * Records without an id count by their text; otherwise the total of the service would always be greater than the number of
 * ids.
 */
function seenWithoutId(plan: StagePlan, { pages, rows }: ReadPages): string {
  const key = quoteName(plan.root.table.key)
  return `insert into stage_seen select 'no id: ' || md5(coalesce(cast(j as varchar), 'null')), ${seenPasses(pages)}, null, null
    from (${elements(pages, rows)}) where locator in (select locator from ${plan.root.name} where ${key} is null) group by 1`
}

interface ReadPages {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** On the pages. */
  readonly records: number
}

/** Returns how many there are. As many as there are records: then none lacks its id. */
export async function fillSeen(engine: Engine, plan: StagePlan, read: ReadPages): Promise<number> {
  const key = quoteName(plan.root.table.key)
  const ids = await create(engine, seenStage(plan, read.pages))
  if (ids === read.records) return ids
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ${plan.root.name} where ${key} is null`,
  )
  return Number(row?.n) === 0 ? ids : ids + (await engine.run(seenWithoutId(plan, read)))
}
