/** Stages a batch of landed pages: typed, checked, and with one version of each record, ready to merge. */
import type { Column } from '../../contract/fields/column.ts'
import type { Child } from '../../contract/fields/table.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { leafStage } from './attribute-leaves.ts'
import { type CastCheck, castCheck, lostRecords } from './cast-check.ts'
import { childStage, isFilled } from './lists.ts'
import type { PageFile, RowsAt } from './pages.ts'
import {
  elements,
  isMisfit,
  jsonReader,
  perPageNumber,
  positionsPerPage,
  type Reader,
  typedReader,
} from './pages.ts'
import { isWhollyTyped, type StagePlan, type StageTable } from './plan.ts'
import { rootStage } from './root.ts'

export interface Batch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** A select of the leaves of undeclared fields. */
  readonly leaves: string | undefined
  /** Whether a page has true or false anywhere in its data. */
  readonly hasBooleans: boolean
  /** Locators of records whose text no engine stores. */
  readonly excluded: readonly number[]
}

export interface Staged extends CastCheck {
  /** Records on the pages, duplicates and quarantined ones included. */
  readonly records: number
  /** Names of the stages that hold rows, stage_leaf among them when it does; the others need no statement. */
  readonly filled: ReadonlySet<string>
  /** The records did not fit their declared type together, so that each was read as JSON: a third as fast. */
  readonly isReadAsJson: boolean
  /** Values outside the lists that the contract gives. */
  readonly newValues: readonly { readonly path: string; readonly value: string }[]
}

/** Newest version of a record: the source's own time, then its version, then the later page. */
const newestFirst = 'source_updated_at desc nulls last, source_version desc nulls last, locator desc'

/** Runs a `create table as` and returns the number of its rows. */
async function create(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.rows<{ Count: number }>(sql)
  return Number(row?.Count)
}

/** The lists of a stage that have elements in any row. */
async function filledLists({ engine, reader }: Filling, stage: StageTable): Promise<ReadonlySet<Child>> {
  if (stage.lists.length === 0) return new Set()
  const counts = stage.lists.map(
    (list, index) => `count(*) filter (${isFilled(stage, list, reader)}) as l${index}`,
  )
  const [row] = await engine.rows<Record<string, number>>(`select ${counts.join(', ')} from ${stage.name}`)
  const filled = stage.lists.filter((_, index) => Number(row?.[`l${index}`]) > 0)
  return new Set(filled.map(({ child }) => child))
}

/** Fills the stages of lists that have elements; a list that is empty in every row costs no statement. */
async function fillChildren(filling: Filling, parent: StageTable): Promise<StageTable[]> {
  const { engine, plan, reader } = filling
  const lists = await filledLists(filling, parent)
  const filled = [parent]
  for (const stage of plan.tables.filter(stage => stage.parent === parent)) {
    if (!stage.child || !lists.has(stage.child)) continue
    const rows = await create(engine, childStage(plan, stage, reader))
    if (rows > 0) filled.push(...(await fillChildren(filling, stage)))
  }
  return filled
}

async function removeFromStages(engine: Engine, stages: readonly string[], locators: string): Promise<void> {
  for (const name of [...stages, 'stage_leaf'])
    await engine.run(`delete from ${name} where locator in (${locators})`)
}

const namesOf = (filled: readonly StageTable[]): string[] => filled.map(({ name }) => name)

async function keepNewest(engine: Engine, plan: StagePlan, stages: readonly string[]): Promise<void> {
  const key = quoteName(plan.root.table.key)
  await engine.run(`create or replace temp table stage_older as select locator from (
    select locator, row_number() over (partition by ${key} order by ${newestFirst}) as place from ${plan.root.name}
  ) where place > 1`)
  await removeFromStages(engine, stages, 'select locator from stage_older')
}

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
function seenWithoutId(plan: StagePlan, { pages, rows }: Batch): string {
  const key = quoteName(plan.root.table.key)
  return `insert into stage_seen select 'no id: ' || md5(coalesce(cast(j as varchar), 'null')), ${seenPasses(pages)}, null, null
    from (${elements(pages, rows)}) where locator in (select locator from ${plan.root.name} where ${key} is null) group by 1`
}

/** Returns how many there are. */
async function fillSeen(engine: Engine, plan: StagePlan, batch: Batch): Promise<number> {
  const key = quoteName(plan.root.table.key)
  const ids = await create(engine, seenStage(plan, batch.pages))
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ${plan.root.name} where ${key} is null`,
  )
  return Number(row?.n) === 0 ? ids : ids + (await engine.run(seenWithoutId(plan, batch)))
}

/** Creates stage_record: one row per record with the hash of everything in it, whichever stages are filled. */
function recordStage(plan: StagePlan, filled: ReadonlySet<string>): string {
  const lists = plan.tables.slice(1).map(({ name }) => ({ name, hash: 'own_hash' }))
  const parts = [...lists, { name: 'stage_leaf', hash: 'hash(path, value_text, value_type)' }].map(
    ({ name, hash }, index) => {
      if (!filled.has(name)) return { hash: 'cast(null as ubigint)', join: '' }
      const rows = `select locator, bit_xor(${hash}) as h from ${name} group by locator`
      return { hash: `c${index}.h`, join: `left join (${rows}) c${index} using (locator)` }
    },
  )
  const hashes = parts.map(({ hash }) => hash)
  return `create or replace temp table stage_record as
    select r.locator, r.${quoteName(plan.root.table.key)} as record_key, r.source_updated_at, r.source_version,
      r.loaded_at, r.run_id, to_hex(hash(${['r.own_hash', ...hashes].join(', ')})) as row_hash
    from ${plan.root.name} r ${parts.map(({ join }) => join).join(' ')}`
}

/** Columns path and value: values outside the lists that the contract gives; undefined when no column has a list. */
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

interface Filling {
  readonly engine: Engine
  readonly plan: StagePlan
  readonly reader: Reader
}

interface FilledStages {
  /** On the pages. */
  readonly records: number
  /** Ids among them. */
  readonly ids: number
  readonly filled: readonly StageTable[]
}

async function fillStages(filling: Filling, batch: Batch): Promise<FilledStages> {
  const { engine, plan, reader } = filling
  const records = await create(engine, rootStage(plan, batch.pages, reader))
  const ids = await fillSeen(engine, plan, batch)
  const excluded =
    batch.excluded.length === 0
      ? 0
      : await engine.run(`delete from ${plan.root.name} where locator in (${batch.excluded.join(', ')})`)
  return { records, ids, filled: records > excluded ? await fillChildren(filling, plan.root) : [] }
}

interface ReadStages extends FilledStages {
  readonly isReadAsJson: boolean
}

/** One record of another structure fails the typed reading of its batch; read as JSON, only that record is quarantined. */
async function readStages(engine: Engine, plan: StagePlan, batch: Batch): Promise<ReadStages> {
  const json = { engine, plan, reader: jsonReader(batch) }
  if (!isWhollyTyped(plan)) return { ...(await fillStages(json, batch)), isReadAsJson: false }
  try {
    const typed = { engine, plan, reader: typedReader(batch) }
    return { ...(await fillStages(typed, batch)), isReadAsJson: false }
  } catch (error) {
    if (!isMisfit(error)) throw error
    return { ...(await fillStages(json, batch)), isReadAsJson: true }
  }
}

/** Fills the stage tables from the pages, on a connection that nobody else uses meanwhile. */
export async function stageBatch(engine: Engine, plan: StagePlan, batch: Batch): Promise<Staged> {
  const { records, ids, filled, isReadAsJson } = await readStages(engine, plan, batch)
  const leaves = await create(engine, leafStage(plan, batch.leaves))
  const check = await castCheck(engine, { plan, pages: batch.pages, rows: batch.rows, filled })
  if (check.quarantined > 0) await removeFromStages(engine, namesOf(filled), lostRecords)
  if (ids < records) await keepNewest(engine, plan, namesOf(filled))
  const names = new Set([...namesOf(filled), ...(leaves > 0 ? ['stage_leaf'] : [])])
  await engine.run(recordStage(plan, names))
  const unknown = unknownValues(filled)
  const newValues = unknown ? await engine.rows<{ path: string; value: string }>(unknown) : []
  return { records, filled: names, isReadAsJson, newValues, ...check }
}

/** Frees the memory of a batch before the next one is fetched; many statements for one call. */
export function dropStages(plan: StagePlan): string {
  const others = [
    'stage_leaf',
    'stage_seen',
    'cast_failure',
    'stage_older',
    'stage_record',
    'checked_record',
    'lost_payload',
    'delta',
  ]
  return [...plan.tables.map(({ name }) => name), ...others.map(name => `temp.${name}`)]
    .map(name => `drop table if exists ${name}`)
    .join('; ')
}
