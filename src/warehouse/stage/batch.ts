/** A batch of landed pages, staged: typed, checked, one version of each record, ready to merge. */
import type { Engine } from '../engine.ts'
import { quoteName } from '../sql-text.ts'
import { leafStage } from './attribute-leaves.ts'
import { childStage } from './child.ts'
import type { PageFile, RowsAt } from './pages.ts'
import type { StagePlan } from './plan.ts'
import { rootStage } from './root.ts'
import { verdictStages } from './verdict.ts'

export interface Batch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  readonly drifted: readonly string[]
  /** Locators of records whose text no engine stores. */
  readonly excluded: readonly number[]
}

export interface Staged {
  /** Records on the pages, duplicates and quarantined ones included. */
  readonly records: number
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

async function removeFromStages(engine: Engine, plan: StagePlan, locators: string): Promise<void> {
  for (const name of [...plan.tables.map(stage => stage.name), 'stage_leaf']) {
    await engine.run(`delete from ${name} where locator in (${locators})`)
  }
}

/** Judges the suspects: lost leaves send their record to quarantine, lost digits are kept beside it as text. */
async function judge(
  engine: Engine,
  plan: StagePlan,
  batch: Batch,
): Promise<Pick<Staged, 'quarantined' | 'rounded'>> {
  const stages: string[] = []
  for (const { name } of plan.tables) {
    if ((await count(engine, `select count(*) as n from ${name} where suspect`)) > 0) stages.push(name)
  }
  if (stages.length === 0) {
    await engine.run(
      'create or replace temp table stage_verdict (locator bigint, path text, text text, reason text)',
    )
    return { quarantined: 0, rounded: [] }
  }
  for (const sql of verdictStages(plan, { ...batch, stages })) await engine.run(sql)
  await engine.run(
    `insert into stage_leaf select locator, path, text, 'number', false from stage_verdict where reason = 'rounded'`,
  )
  const lost = `select locator from stage_verdict where reason <> 'rounded'`
  const rounded = await engine.rows<{ path: string }>(
    `select distinct regexp_replace(path, '\\[\\d+\\]', '[]', 'g') as path from stage_verdict where reason = 'rounded'`,
  )
  const quarantined = await count(engine, `select count(distinct locator) as n from (${lost})`)
  if (quarantined > 0) await removeFromStages(engine, plan, lost)
  return { quarantined, rounded: rounded.map(row => row.path) }
}

async function keepNewest(engine: Engine, plan: StagePlan): Promise<void> {
  const key = quoteName(plan.root.table.key)
  const doubles = `select count(*) - count(distinct ${key}) as n from ${plan.root.name}`
  if ((await count(engine, doubles)) === 0) return
  await engine.run(`create or replace temp table stage_older as select locator from (
    select locator, row_number() over (partition by ${key} order by ${newestFirst}) as place from ${plan.root.name}
  ) where place > 1`)
  await removeFromStages(engine, plan, 'select locator from stage_older')
}

/** Creates stage_seen: the ids on the pages, those of records that will be quarantined included. */
function seenStage(plan: StagePlan): string {
  const key = quoteName(plan.root.table.key)
  return `create or replace temp table stage_seen as
    select distinct ${key} as id from ${plan.root.name} where ${key} is not null`
}

/** Creates stage_record: one row per record with the hash of everything in it. */
function recordStage(plan: StagePlan): string {
  const parts = plan.tables
    .slice(1)
    .map(
      ({ name }, index) =>
        `left join (select locator, bit_xor(own_hash) as h from ${name} group by locator) c${index} using (locator)`,
    )
  const hashes = ['r.own_hash', ...parts.map((_, index) => `c${index}.h`), 'l.h']
  return `create or replace temp table stage_record as
    select r.locator, r.${quoteName(plan.root.table.key)} as record_key, r.source_updated_at, r.source_version,
      r.loaded_at, r.run_id, to_hex(hash(${hashes.join(', ')})) as row_hash
    from ${plan.root.name} r ${parts.join(' ')}
    left join (select locator, bit_xor(hash(path, value_text, value_type)) as h from stage_leaf group by locator) l using (locator)`
}

/** Fills the stage tables from the pages; runs inside an exclusive block of the engine. */
export async function stageBatch(engine: Engine, plan: StagePlan, batch: Batch): Promise<Staged> {
  await engine.run(rootStage(plan, batch.pages, batch.rows))
  const records = await count(engine, `select count(*) as n from ${plan.root.name}`)
  await engine.run(seenStage(plan))
  if (batch.excluded.length > 0)
    await engine.run(`delete from ${plan.root.name} where locator in (${batch.excluded.join(', ')})`)
  for (const stage of plan.tables.slice(1)) await engine.run(childStage(plan, stage))
  await engine.run(leafStage(plan, batch))
  const verdict = await judge(engine, plan, batch)
  await keepNewest(engine, plan)
  await engine.run(recordStage(plan))
  return { records, ...verdict }
}
