/** A batch of landed pages, staged: typed, checked, one version of each record, ready to merge. */
import type { Child } from '../../resources/table.ts'
import type { Engine } from '../engine.ts'
import { quoteName } from '../sql-text.ts'
import { leafStage } from './attribute-leaves.ts'
import { childStage } from './child.ts'
import { isFilled } from './lists.ts'
import type { PageFile, RowsAt } from './pages.ts'
import { isWhollyTyped, type StagePlan, type StageTable } from './plan.ts'
import { jsonReader, type Reader, typedReader } from './reader.ts'
import { rootStage } from './root.ts'
import { verdictStages } from './verdict.ts'

export interface Batch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  readonly drifted: readonly string[]
  /** Whether a page has true or false anywhere in its data. */
  readonly hasBooleans: boolean
  /** Locators of records whose text no engine stores. */
  readonly excluded: readonly number[]
}

export interface Staged {
  /** Records on the pages, duplicates and quarantined ones included. */
  readonly records: number
  /** Names of the stages that hold rows, stage_leaf among them when it does; the others need no statement. */
  readonly filled: ReadonlySet<string>
  /** Records that cannot be loaded; their reasons are in stage_verdict, their JSON in suspect_record. */
  readonly quarantined: number
  /** Paths with more digits than their column holds. */
  readonly rounded: readonly string[]
}

/** Newest version of a record: the source's own time, then its version, then the later page. */
const newestFirst = 'source_updated_at desc nulls last, source_version desc nulls last, locator desc'

async function count(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(sql)
  return Number(row?.n ?? 0)
}

/** Runs a `create table as`, and tells how many rows it made. */
async function create(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.rows<{ Count: number }>(sql)
  return Number(row?.Count)
}

interface Filled {
  readonly stage: StageTable
  readonly rows: number
  readonly suspects: number
}

interface Filling {
  readonly engine: Engine
  readonly plan: StagePlan
  readonly reader: Reader
}

/** How many rows a stage has, how many look suspect, and which of its lists have elements anywhere. */
async function examine(
  { engine, reader }: Filling,
  stage: StageTable,
): Promise<Filled & { readonly lists: ReadonlySet<Child> }> {
  const lists = stage.lists.map(list => `count(*) filter (${isFilled(stage, list, reader)})`)
  const columns = [
    'count(*) as rows',
    'count(*) filter (suspect) as suspects',
    ...lists.map((list, index) => `${list} as l${index}`),
  ]
  const [row] = await engine.rows<Record<string, number>>(`select ${columns.join(', ')} from ${stage.name}`)
  const filled = stage.lists.filter((_, index) => Number(row?.[`l${index}`]) > 0)
  return {
    stage,
    rows: Number(row?.rows),
    suspects: Number(row?.suspects),
    lists: new Set(filled.map(({ child }) => child)),
  }
}

/** Fills a stage and those of its lists that have elements; a list that is empty everywhere costs no statement. */
async function fillChildren(filling: Filling, parent: StageTable): Promise<Filled[]> {
  const { engine, plan, reader } = filling
  const { lists, ...self } = await examine(filling, parent)
  const filled: Filled[] = self.rows > 0 ? [self] : []
  for (const stage of plan.tables.filter(stage => stage.parent === parent)) {
    if (!stage.child || !lists.has(stage.child)) continue
    await engine.run(childStage(plan, stage, reader))
    filled.push(...(await fillChildren(filling, stage)))
  }
  return filled
}

async function removeFromStages(engine: Engine, stages: readonly string[], locators: string): Promise<void> {
  for (const name of [...stages, 'stage_leaf'])
    await engine.run(`delete from ${name} where locator in (${locators})`)
}

const namesOf = (filled: readonly Filled[]): string[] => filled.map(({ stage }) => stage.name)

interface Judged {
  readonly plan: StagePlan
  readonly batch: Batch
  readonly filled: readonly Filled[]
}

/** Judges the suspects: lost leaves send their record to quarantine, lost digits are kept beside it as text. */
async function judge(
  engine: Engine,
  { plan, batch, filled }: Judged,
): Promise<Pick<Staged, 'quarantined' | 'rounded'>> {
  const stages = namesOf(filled.filter(({ suspects }) => suspects > 0))
  if (stages.length === 0) return { quarantined: 0, rounded: [] }
  for (const sql of verdictStages(plan, { ...batch, stages })) await engine.run(sql)
  await engine.run(
    `insert into stage_leaf select locator, path, text, 'number', false from stage_verdict where reason = 'rounded'`,
  )
  const lost = `select locator from stage_verdict where reason <> 'rounded'`
  const rounded = await engine.rows<{ path: string }>(
    `select distinct regexp_replace(path, '\\[\\d+\\]', '[]', 'g') as path from stage_verdict where reason = 'rounded'`,
  )
  const quarantined = await count(engine, `select count(distinct locator) as n from (${lost})`)
  if (quarantined > 0) await removeFromStages(engine, namesOf(filled), lost)
  return { quarantined, rounded: rounded.map(row => row.path) }
}

async function keepNewest(engine: Engine, plan: StagePlan, stages: readonly string[]): Promise<void> {
  const key = quoteName(plan.root.table.key)
  const doubles = `select count(*) - count(distinct ${key}) as n from ${plan.root.name}`
  if ((await count(engine, doubles)) === 0) return
  await engine.run(`create or replace temp table stage_older as select locator from (
    select locator, row_number() over (partition by ${key} order by ${newestFirst}) as place from ${plan.root.name}
  ) where place > 1`)
  await removeFromStages(engine, stages, 'select locator from stage_older')
}

/**
 * Creates stage_seen: the ids on the pages, those of records that will be quarantined included. A record without an id
 * counts too, under what is in it, or the service would always claim more than was seen.
 */
function seenStage(plan: StagePlan): string {
  const key = quoteName(plan.root.table.key)
  return `create or replace temp table stage_seen as
    select distinct coalesce(${key}, 'no id: ' || own_hash) as id from ${plan.root.name}`
}

/** Creates stage_record: one row per record with the hash of everything in it, whichever stages are filled. */
function recordStage(plan: StagePlan, filled: ReadonlySet<string>): string {
  const children = plan.tables
    .slice(1)
    .map(({ name }, index) => ({ name, alias: `c${index}`, isFilled: filled.has(name) }))
  const parts = children
    .filter(({ isFilled }) => isFilled)
    .map(
      ({ name, alias }) =>
        `left join (select locator, bit_xor(own_hash) as h from ${name} group by locator) ${alias} using (locator)`,
    )
  const hashes = children.map(({ alias, isFilled }) => (isFilled ? `${alias}.h` : 'cast(null as ubigint)'))
  return `create or replace temp table stage_record as
    select r.locator, r.${quoteName(plan.root.table.key)} as record_key, r.source_updated_at, r.source_version,
      r.loaded_at, r.run_id, to_hex(hash(${['r.own_hash', ...hashes, 'l.h'].join(', ')})) as row_hash
    from ${plan.root.name} r ${parts.join(' ')}
    left join (select locator, bit_xor(hash(path, value_text, value_type)) as h from stage_leaf group by locator) l using (locator)`
}

/** How many records the pages hold, and the stages of records and lists. */
async function fillStages(filling: Filling, batch: Batch): Promise<{ records: number; filled: Filled[] }> {
  const { engine, plan, reader } = filling
  const records = await create(engine, rootStage(plan, batch.pages, reader))
  await engine.run(seenStage(plan))
  if (batch.excluded.length > 0)
    await engine.run(`delete from ${plan.root.name} where locator in (${batch.excluded.join(', ')})`)
  return { records, filled: await fillChildren(filling, plan.root) }
}

/** Whatever the typed reader fails at, the JSON reader finds by record, or fails with the same reason. */
async function readStages(engine: Engine, plan: StagePlan, batch: Batch): ReturnType<typeof fillStages> {
  const json = { engine, plan, reader: jsonReader(batch) }
  if (!isWhollyTyped(plan)) return fillStages(json, batch)
  try {
    return await fillStages({ engine, plan, reader: typedReader(batch) }, batch)
  } catch {
    return fillStages(json, batch)
  }
}

/** Fills the stage tables from the pages; runs inside an exclusive block of the engine. */
export async function stageBatch(engine: Engine, plan: StagePlan, batch: Batch): Promise<Staged> {
  const { records, filled } = await readStages(engine, plan, batch)
  const leaves = await create(engine, leafStage(plan, batch))
  const verdict = await judge(engine, { plan, batch, filled })
  await keepNewest(engine, plan, namesOf(filled))
  const hasLeaves = leaves > 0 || verdict.rounded.length > 0
  const names = new Set([...namesOf(filled), ...(hasLeaves ? ['stage_leaf'] : [])])
  await engine.run(recordStage(plan, names))
  return { records, filled: names, ...verdict }
}

/** Gives the memory of a batch back before the next one is fetched; one call, many statements. */
export function dropStages(plan: StagePlan): string {
  const others = [
    'stage_leaf',
    'stage_seen',
    'stage_verdict',
    'stage_older',
    'stage_record',
    'suspect_record',
    'delta',
  ]
  return [...plan.tables.map(({ name }) => name), ...others.map(name => `temp.${name}`)]
    .map(name => `drop table if exists ${name}`)
    .join('; ')
}
