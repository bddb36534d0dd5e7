/** Applies a delta to star, pii and history, with one statement for each table and step. */
import type { WriteKind } from '../../state/marts/writes.ts'
import type { Engine, Insertion, TemporaryTable } from '../../warehouse/engine.ts'
import { historyOf } from '../../warehouse/schema/physical.ts'
import { beganAt, foundMissingAt } from '../../warehouse/schema/record-rows.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteNames } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'
import { beginOfVersion, type DeltaCounts } from './delta.ts'
import type { EmptyTables } from './empty-tables.ts'
import { type ChangedDimension, type Members, membersOf } from './inferred-members.ts'
import { distinctOwners, type MergeTarget, targetsOf } from './targets.ts'

/**
 * Begins the statement that copies rows `t` of a table to history; the caller appends valid_from, valid_to and the
 * FROM.
 */
export function intoHistory(target: MergeTarget): string {
  const names = namesOf(target).filter(name => name !== 'valid_from')
  return `insert into ${qualified(historyOf(target))} (${quoteNames([...names, 'valid_from', 'valid_to'])})
    select ${quoteNames(names, 't.')},`
}

/** Moves replaced rows to history. Skips inferred members, which never were a version; a tombstone is its own version. */
function keepHistory(target: MergeTarget): string {
  return `${intoHistory(target)}
      case when t.is_deleted then ${foundMissingAt} else ${beganAt} end, d.valid_from
    from ${qualified(target)} t join delta d on ${target.ownedBy} where d.state in ('changed', 'missing')`
}

/**
 * Also removes rows of records that seem new: someone may have deleted a record's own row by hand, and left those of
 * its lists.
 */
function remove(target: MergeTarget): string {
  return `delete from ${qualified(target)} as t using delta d where ${target.ownedBy} and d.state not in ('same', 'stale')`
}

function arrivingRows({ columns, where, rows, stage }: MergeTarget): string {
  const values = columns.map(([, value]) => value).join(', ')
  return `select ${values} from ${rows ?? stage} s join arriving d on d.locator = s.locator${where ? ` where ${where}` : ''}`
}

const namesOf = ({ columns }: MergeTarget): string[] => columns.map(([name]) => name)

/** Builds one statement for each table, even if its rows come from several stages. */
function insertions(targets: readonly MergeTarget[]): Insertion[] {
  const selects = new Map<string, [MergeTarget, ...string[]]>()
  for (const target of targets) {
    const place = `${qualified(target)} (${quoteNames(namesOf(target))})`
    const [first, ...others] = selects.get(place) ?? [target]
    selects.set(place, [first, ...others, arrivingRows(target)])
  }
  return [...selects.values()].map(([target, ...rows]) => ({
    table: qualified(target),
    columns: namesOf(target),
    select: rows.join(' union all '),
  }))
}

/** Whether any record will be written. */
export const isArriving = (counts: DeltaCounts): boolean =>
  counts.new + counts.changed + counts.touched + counts.inferred > 0

/** On a first load every record arrives, so the warehouse need not choose. */
export const areAllNew = (counts: DeltaCounts): boolean =>
  counts.inferred + counts.changed + counts.touched + counts.same + counts.stale === 0

/** Creates the temporary table arriving in the stage: the records to write. */
async function chooseArriving(engine: Engine, counts: DeltaCounts): Promise<void> {
  const arriving = (select: string) => engine.stage.run(`create or replace temp table arriving as ${select}`)
  if (areAllNew(counts)) {
    await arriving(
      `select s.*, s.loaded_at as first_loaded_at, ${beginOfVersion('s')} as valid_from from stage_record s`,
    )
    return
  }
  const columns = [
    { name: 'locator', sql: 'bigint' },
    { name: 'first_loaded_at', sql: 'timestamptz' },
    { name: 'valid_from', sql: 'timestamptz' },
  ]
  const chosen = `select locator, first_loaded_at, valid_from from delta where state in ('new', 'inferred', 'changed', 'touched')`
  await engine.sendToStage('chosen', columns, chosen)
  await arriving(
    'select r.*, c.first_loaded_at, c.valid_from from stage_record r join chosen c on c.locator = r.locator',
  )
}

export interface Merge {
  readonly counts: DeltaCounts
  /** Names of the stages with rows. */
  readonly filled: ReadonlySet<string>
  readonly emptyTables?: EmptyTables | undefined
}

export interface Arrivals {
  /** Must be received before the delta is applied. */
  readonly items: readonly (Insertion | TemporaryTable)[]
  readonly members?: Members | undefined
}

/**
 * Returns the arriving rows and the members that they name: the stage's last work. Narrow tables come first: the
 * warehouse waits for the first table, and receives each one while the stage writes the next.
 */
export async function arrivalsOf(
  engine: Engine,
  plan: StagePlan,
  { counts, filled }: Merge,
): Promise<Arrivals> {
  if (!isArriving(counts)) return { items: [] }
  await chooseArriving(engine, counts)
  const members = membersOf(plan, filled)
  const targets = targetsOf(plan).filter(({ stage }) => filled.has(stage))
  const rows = insertions(targets).sort((left, right) => left.columns.length - right.columns.length)
  return { items: [...rows, ...(members ? [members.table] : [])], members }
}

/** Whether any row belongs to a record of the resource. In most warehouses the first table answers that. */
export async function ownsRows(engine: Engine, plan: StagePlan): Promise<boolean> {
  const owners = distinctOwners(targetsOf(plan))
  for (const targets of [owners.slice(0, 1), owners.slice(1)]) {
    const owned = targets.map(one => `exists (select 1 from ${qualified(one)} as t where ${one.kind})`)
    const rows = await engine.rows<{ is_any: boolean }>(`select ${owned.join(' or ')} as is_any`)
    if (rows.some(row => row.is_any)) return true
  }
  return false
}

export interface Retirement {
  /** Whether any record has a version that becomes history. */
  readonly hasHistory: boolean
  /** New records and inferred members have nothing to replace in tables without rows of the resource. */
  readonly removedFrom: 'no table' | 'tables with rows' | 'every table'
}

export function retirementOf(counts: DeltaCounts): Retirement {
  const hasHistory = counts.changed + counts.missing > 0
  if (hasHistory || counts.touched > 0) return { hasHistory, removedFrom: 'every table' }
  return { hasHistory, removedFrom: counts.new + counts.inferred > 0 ? 'tables with rows' : 'no table' }
}

/** Moves rows of replaced or missing records to history, and removes the other stored rows of these records. */
export async function retireReplaced(
  engine: Engine,
  plan: StagePlan,
  { counts, emptyTables }: Merge,
): Promise<void> {
  const { hasHistory, removedFrom } = retirementOf(counts)
  if (removedFrom === 'no table') return
  const owners = distinctOwners(targetsOf(plan))
  if (hasHistory) await runAll(engine, owners.map(keepHistory))
  const others =
    removedFrom === 'every table' || !emptyTables
      ? owners
      : await emptyTables.others(engine, owners, counts.inferred > 0)
  await runAll(engine, others.map(remove))
}

/** Writes the inferred members that the batch adds to; returns the kind of write for each dimension. */
export async function applyMembers(
  engine: Engine,
  members: Members | undefined,
): Promise<ReadonlyMap<string, WriteKind>> {
  if (!members) return new Map()
  const { changed, statements } = members
  const dimensions = await engine.rows<ChangedDimension>(changed)
  await runAll(
    engine,
    dimensions.flatMap(one => statements(one)),
  )
  return new Map(
    dimensions.map(({ dimension, has_changes }) => [dimension, has_changes ? 'changes' : 'touches']),
  )
}

async function runAll(engine: Engine, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await engine.run(sql)
}
