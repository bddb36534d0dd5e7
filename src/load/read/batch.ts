/** Stages a batch of landed pages: typed, checked, and with one version of each record, ready to merge. */
import type { Column } from '../../contract/fields/column.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { leafStage } from './attribute-leaves.ts'
import { childStage, isFilled } from './lists.ts'
import {
  jsonReader,
  type PageFile,
  type PageReader,
  perPageNumber,
  positionsPerPage,
  type RowsAt,
  typedReader,
} from './pages.ts'
import { isWhollyTyped, type StagePlan, type StageTable } from './plan.ts'
import { rootStage } from './root.ts'

/** Columns first_pass, last_pass and front_pass of stage_seen: the passes of a scan that saw an id on these pages. */
function seenPasses(pages: readonly PageFile[]): string {
  const page = `locator // ${positionsPerPage}`
  const pass = perPageNumber(pages, one => one.pass, page)
  const front = perPageNumber(pages, one => (one.isFront ? one.pass : undefined), page)
  return `min(${pass}) as first_pass, max(${pass}) as last_pass, max(${front}) as front_pass`
}

/** Milliseconds since the epoch; null if the resource does not have the column. */
const millis = (column: string | undefined): string =>
  column === undefined ? 'cast(null as bigint)' : `epoch_ms(${column})`

/** In bytes: PostgreSQL cannot index longer texts, and such an id goes to quarantine. */
const longestSeenId = 200

const isCreatedAt = ({ source }: Column): boolean =>
  source.from === 'field' && source.path.join('.') === 'createdAt'

/**
 * Creates stage_seen: the ids on the pages, including those of records that will be quarantined, a time at which each
 * existed, and its last change. A record without an id gets a stand-in id, since the service's total counts it as well.
 */
function seenStage({ root, resource }: StagePlan, pages: readonly PageFile[]): string {
  const key = quoteName(root.table.key)
  const created = Object.entries(root.table.columns).find(([, column]) => isCreatedAt(column))?.[0]
  const changed = millis(resource.updatedAt === undefined ? undefined : 'source_updated_at')
  return `create or replace temp table stage_seen as
    select case when strlen(${key}) <= ${longestSeenId} then ${key} else 'long id: ' || md5(${key}) end as id, ${seenPasses(pages)},
      min(least(${millis(created && quoteName(created))}, ${changed})) as existed_at, max(${changed}) as changed_at
    from ${root.name} group by 1`
}

/** Runs a `create table as` and returns its number of rows. */
async function create(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.rows<{ Count: number }>(sql)
  return Number(row?.Count)
}

export interface StageBatch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Selects the leaves of undeclared fields. */
  readonly leaves: string | undefined
  /** Whether a page has a number too long for DuckDB to convert to a decimal exactly. */
  readonly hasLong: boolean
  /** Locators of the records that go to quarantine. */
  readonly excluded: readonly number[]
}

export interface StagedRows {
  /** Records on the pages, including duplicates and quarantined ones. */
  readonly records: number
  /** Names of the stages with rows, including stage_leaf; the others need no statement. */
  readonly filled: ReadonlySet<string>
  /** Values outside the lists in the contract. */
  readonly newValues: readonly { readonly path: string; readonly value: string }[]
}

/** Newest version of a record first: by the service's updatedAt, then its version, then the later page. */
const newestFirst = 'source_updated_at desc nulls last, source_version desc nulls last, locator desc'

/** What the rows of a stage contain: lists with elements, and whether the root has documents. */
interface StageContents {
  readonly lists: StageTable['lists']
  readonly hasDocuments: boolean
}

async function readStageContents(
  { engine, plan, reader }: StageFilling,
  stage: StageTable,
): Promise<StageContents> {
  const documents = stage === plan.root ? plan.documents : []
  if (stage.lists.length + documents.length === 0) return { lists: [], hasDocuments: false }
  const counts = [
    ...stage.lists.map(list => `count(*) filter (${isFilled(stage, list, reader)}) as ${list.column}`),
    ...documents.map(({ name }) => `count(${name}) as ${name}`),
  ]
  const [row = {}] = await engine.rows<Record<string, number>>(
    `select ${counts.join(', ')} from ${stage.name}`,
  )
  const isAny = (name: string): boolean => Number(row[name]) > 0
  return {
    lists: stage.lists.filter(({ column }) => isAny(column)),
    hasDocuments: documents.some(({ name }) => isAny(name)),
  }
}

/** Fills the stages of lists that have elements. A list that is empty in every row costs no statement. */
async function fillChildren(filling: StageFilling, parent: StageTable): Promise<FilledStages> {
  const { engine, plan, reader } = filling
  const { lists, hasDocuments } = await readStageContents(filling, parent)
  const filled = [parent]
  for (const { stage } of lists) {
    const rows = await create(engine, childStage(plan, stage, reader))
    if (rows > 0) filled.push(...(await fillChildren(filling, stage)).filled)
  }
  return { filled, hasDocuments }
}

async function removeFromStages(engine: Engine, stages: readonly string[], locators: string): Promise<void> {
  for (const name of stages) await engine.run(`delete from ${name} where locator in (${locators})`)
}

const namesOf = (filled: readonly StageTable[]): string[] => filled.map(({ name }) => name)

async function keepNewest(engine: Engine, plan: StagePlan, stages: readonly string[]): Promise<void> {
  const key = quoteName(plan.root.table.key)
  await engine.run(`create or replace temp table stage_older as select locator from (
    select locator, row_number() over (partition by ${key} order by ${newestFirst}) as place from ${plan.root.name}
  ) where place > 1`)
  await removeFromStages(engine, stages, 'select locator from stage_older')
}

const leafHash = 'hash(path, value_text, value_type)'

/** A leaf with the time of the service's last write. */
const isTimeOfChange = `regexp_matches(path, '(^|\\.)updatedAt$')`

/**
 * Creates stage_record: a row for each record with the hash of all its content, whichever stages have rows, a dash, and
 * the hash of its bookkeeping. Groups the lists of all stages at once: with sixteen, a join for each took 35 ms to
 * plan.
 */
function recordStage(plan: StagePlan, filled: ReadonlySet<string>): string {
  const lists = plan.tables.slice(1).map(({ name }) => ({ name, hash: 'own_hash', touch: 'own_touch' }))
  const leaf = {
    name: 'stage_leaf',
    hash: `case when not ${isTimeOfChange} then ${leafHash} end`,
    touch: `case when ${isTimeOfChange} then ${leafHash} end`,
  }
  const parts = [...lists, leaf]
  const rows = parts.flatMap(({ name, hash, touch }, part) =>
    filled.has(name) ? [`select locator, ${part} as part, ${hash} as h, ${touch} as t from ${name}`] : [],
  )
  const hashesOf = (kind: 'h' | 't'): string[] =>
    parts.map(({ name }, part) => (filled.has(name) ? `c.${kind}${part}` : 'cast(null as ubigint)'))
  const grouped = parts.flatMap(({ name }, part) =>
    filled.has(name)
      ? ['h', 't'].map(kind => `bit_xor(${kind}) filter (part = ${part}) as ${kind}${part}`)
      : [],
  )
  const join =
    rows.length === 0
      ? ''
      : `left join (select locator, ${grouped.join(', ')} from (${rows.join(' union all ')}) group by locator) c using (locator)`
  return `create or replace temp table stage_record as
    select r.locator, r.${quoteName(plan.root.table.key)} as record_key, r.source_updated_at, r.source_version,
      r.loaded_at, r.run_id,
      to_hex(hash(${['r.own_hash', ...hashesOf('h')].join(', ')})) || '-' ||
        to_hex(hash(${['r.own_touch', ...hashesOf('t')].join(', ')})) as row_hash
    from ${plan.root.name} r ${join}`
}

/** Columns path and value: values outside the lists in the contract; undefined when no column has a list. */
function unknownValues(tables: readonly StageTable[]): string | undefined {
  const selects = tables.flatMap(({ name, table }) =>
    Object.entries(table.columns).flatMap(([column, { values }]) =>
      values
        ? [
            `select ${quoteText(`${table.name}.${column}`)} as path, ${quoteName(column)} as value from ${name}
             where ${quoteName(column)} not in (${values.map(quoteText).join(', ')})`,
          ]
        : [],
    ),
  )
  if (selects.length === 0) return undefined
  return `select distinct path, substr(value, 1, 80) as value from (${selects.join(' union all ')}) limit 20`
}

interface StageFilling {
  readonly engine: Engine
  readonly plan: StagePlan
  readonly reader: PageReader
}

interface FilledStages {
  readonly filled: readonly StageTable[]
  readonly hasDocuments: boolean
}

interface CountedStages extends FilledStages {
  /** Records on the pages. */
  readonly records: number
  /** Distinct ids among them. */
  readonly ids: number
}

async function fillStages(filling: StageFilling, batch: StageBatch): Promise<CountedStages> {
  const { engine, plan, reader } = filling
  const records = await create(engine, rootStage(plan, batch.pages, reader))
  const ids = await create(engine, seenStage(plan, batch.pages))
  const excluded =
    batch.excluded.length === 0
      ? 0
      : await engine.run(`delete from ${plan.root.name} where locator in (${batch.excluded.join(', ')})`)
  const nothing = { filled: [], hasDocuments: false }
  return { records, ids, ...(records > excluded ? await fillChildren(filling, plan.root) : nothing) }
}

/** Fills the stage tables from the pages, on a connection that no one else uses at the same time. */
export async function stageBatch(engine: Engine, plan: StagePlan, batch: StageBatch): Promise<StagedRows> {
  const reader = isWhollyTyped(plan) ? typedReader(batch) : jsonReader(batch)
  const { records, ids, filled, hasDocuments } = await fillStages({ engine, plan, reader }, batch)
  // Most batches have no leaves, and the statement that finds them takes longest to plan.
  const mayHaveLeaves = hasDocuments || batch.leaves !== undefined
  const leaves = mayHaveLeaves ? await create(engine, leafStage(plan, batch.leaves)) : 0
  const names = new Set([...namesOf(filled), ...(leaves > 0 ? ['stage_leaf'] : [])])
  if (ids < records) await keepNewest(engine, plan, [...names])
  await engine.run(recordStage(plan, names))
  const unknown = unknownValues(filled)
  const newValues = unknown ? await engine.rows<{ path: string; value: string }>(unknown) : []
  return { records, filled: names, newValues }
}

/** Drops a batch's tables before the next one is fetched, to free their memory; joins the statements into one call. */
export function dropStages(plan: StagePlan): string {
  const others = ['stage_leaf', 'stage_seen', 'stage_older', 'stage_record', 'delta']
  return [...plan.tables.map(({ name }) => name), ...others.map(name => `temp.${name}`)]
    .map(name => `drop table if exists ${name}`)
    .join('; ')
}
