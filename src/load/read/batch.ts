/** Stages a batch of landed pages: typed, checked, and with one version of each record, ready to merge. */
import type { Child } from '../../contract/fields/table.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { leafStage } from './attribute-leaves.ts'
import { type CastCheck, castCheck, lostRecords } from './cast-check.ts'
import { create } from './create-stage.ts'
import { childStage, isFilled } from './lists.ts'
import type { PageFile, RowsAt } from './pages.ts'
import { isMisfit, jsonReader, type Reader, typedReader } from './pages.ts'
import { isWhollyTyped, type StagePlan, type StageTable } from './plan.ts'
import { rootStage } from './root.ts'
import { fillSeen } from './seen-ids.ts'

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

/** What any row of a stage holds: its lists that have elements, and whether there is a document in the root. */
interface Held {
  readonly lists: ReadonlySet<Child>
  readonly hasDocuments: boolean
}

async function heldIn({ engine, plan, reader }: Filling, stage: StageTable): Promise<Held> {
  const documents = stage === plan.root ? plan.documents : []
  if (stage.lists.length + documents.length === 0) return { lists: new Set(), hasDocuments: false }
  const counts = [
    ...stage.lists.map((list, index) => `count(*) filter (${isFilled(stage, list, reader)}) as l${index}`),
    ...documents.map(({ name }) => `count(${name}) as ${name}`),
  ]
  const [row] = await engine.rows<Record<string, number>>(`select ${counts.join(', ')} from ${stage.name}`)
  const filled = stage.lists.filter((_, index) => Number(row?.[`l${index}`]) > 0)
  return {
    lists: new Set(filled.map(({ child }) => child)),
    hasDocuments: documents.some(({ name }) => Number(row?.[name]) > 0),
  }
}

/** Fills the stages of lists that have elements; a list that is empty in every row costs no statement. */
async function fillChildren(filling: Filling, parent: StageTable): Promise<FilledStages> {
  const { engine, plan, reader } = filling
  const { lists, hasDocuments } = await heldIn(filling, parent)
  const filled = [parent]
  for (const stage of plan.tables.filter(stage => stage.parent === parent)) {
    if (!stage.child || !lists.has(stage.child)) continue
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

/** A leaf that says when the service wrote something. */
const isTimeOfChange = `regexp_matches(path, '(^|\\.)updatedAt$')`

/**
 * Creates stage_record: one row per record with the hash of all its content, whichever stages are filled, a dash, and the hash
 * of its bookkeeping. The lists of all stages are grouped at once: a join a stage took 35 ms to plan where there are sixteen.
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
  readonly filled: readonly StageTable[]
  readonly hasDocuments: boolean
}

interface CountedStages extends FilledStages {
  /** On the pages. */
  readonly records: number
  /** Ids among them. */
  readonly ids: number
}

async function fillStages(filling: Filling, batch: Batch): Promise<CountedStages> {
  const { engine, plan, reader } = filling
  const records = await create(engine, rootStage(plan, batch.pages, reader))
  const ids = await fillSeen(engine, plan, { ...batch, records })
  const excluded =
    batch.excluded.length === 0
      ? 0
      : await engine.run(`delete from ${plan.root.name} where locator in (${batch.excluded.join(', ')})`)
  const nothing = { filled: [], hasDocuments: false }
  return { records, ids, ...(records > excluded ? await fillChildren(filling, plan.root) : nothing) }
}

interface ReadStages extends CountedStages {
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
  const { records, ids, filled, hasDocuments, isReadAsJson } = await readStages(engine, plan, batch)
  // Most batches have no leaf, and the statement that looks for one takes longest to plan.
  const mayHaveLeaves = hasDocuments || batch.leaves !== undefined
  const leaves = mayHaveLeaves ? await create(engine, leafStage(plan, batch.leaves)) : 0
  const names = new Set([...namesOf(filled), ...(leaves > 0 ? ['stage_leaf'] : [])])
  const check = await castCheck(engine, { plan, pages: batch.pages, rows: batch.rows, filled })
  if (check.quarantined > 0) await removeFromStages(engine, [...names], lostRecords)
  if (ids < records) await keepNewest(engine, plan, [...names])
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
