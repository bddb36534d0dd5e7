/** Applies a delta to star, pii and history, one statement a table and step. */
import type { Engine, Insertion, TemporaryTable } from '../../warehouse/engine.ts'
import { historyOf } from '../../warehouse/schema/physical.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteNames } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'
import type { DeltaCounts } from './delta.ts'
import { type ChangedDimension, type Members, membersOf } from './inferred-members.ts'
import { distinctOwners, type Target, targetsOf } from './targets.ts'

/** Replaced rows become history: not inferred members, which never were a version; a tombstone is a version of its own. */
function keepHistory(target: Target): string {
  const names = namesOf(target)
  return `insert into ${qualified(historyOf(target))} (${quoteNames([...names, 'valid_from', 'valid_to'])})
    select ${quoteNames(names, 't.')},
      case when t.is_deleted then t.deleted_at else coalesce(t.source_updated_at, t.loaded_at) end,
      case when t.is_deleted then d.loaded_at else coalesce(d.source_updated_at, d.loaded_at) end
    from ${qualified(target)} t join delta d on ${target.ownedBy} where d.state in ('changed', 'missing')`
}

function remove(target: Target): string {
  return `delete from ${qualified(target)} as t using delta d where ${target.ownedBy} and d.state in ('changed', 'inferred', 'missing')`
}

function arrivingRows({ columns, where, rows, stage }: Target): string {
  const values = columns.map(([, value]) => value).join(', ')
  return `select ${values} from ${rows ?? stage} s join arriving d on d.locator = s.locator${where ? ` where ${where}` : ''}`
}

const namesOf = ({ columns }: Target): string[] => columns.map(([name]) => name)

/** One statement a table, whichever stages its rows come from. */
function insertions(targets: readonly Target[]): Insertion[] {
  const selects = new Map<string, [Target, ...string[]]>()
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

const isArriving = (counts: DeltaCounts): boolean => counts.new + counts.changed + counts.inferred > 0

/** On a first load every record arrives, so the warehouse need not say which. */
const areAllNew = (counts: DeltaCounts): boolean =>
  counts.inferred + counts.changed + counts.same + counts.stale === 0

/** Creates the temporary table arriving in the stage: its records that the warehouse will write. */
async function chooseArriving(engine: Engine, counts: DeltaCounts): Promise<void> {
  const arriving = (select: string) => engine.stage.run(`create or replace temp table arriving as ${select}`)
  if (areAllNew(counts)) {
    await arriving('select *, loaded_at as first_loaded_at from stage_record')
    return
  }
  const columns = [
    { name: 'locator', sql: 'bigint' },
    { name: 'first_loaded_at', sql: 'timestamptz' },
  ]
  const chosen = `select locator, first_loaded_at from delta where state in ('new', 'inferred', 'changed')`
  await engine.sendToStage('chosen', columns, chosen)
  await arriving('select r.*, c.first_loaded_at from stage_record r join chosen c on c.locator = r.locator')
}

export interface Merge {
  readonly counts: DeltaCounts
  /** Names of the stages that hold rows. */
  readonly filled: ReadonlySet<string>
}

export interface Arrivals {
  /** To be received before the delta can be applied. */
  readonly items: readonly (Insertion | TemporaryTable)[]
  readonly members?: Members | undefined
}

/**
 * The rows that arrive and the members that they name: the last work of the stage. Narrow tables come first, because the
 * warehouse waits for the first one and receives each while the stage writes the next.
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

/** References write an inferred member into its dimension and the PII table of that, and nowhere else. */
function holdsMembers({ resource: { table } }: StagePlan, { schema, name }: Target): boolean {
  return name === (schema === 'star' ? table.name : table.piiTable)
}

/** Moves the rows that arriving or missing records replace into history. */
export async function retireReplaced(engine: Engine, plan: StagePlan, { counts }: Merge): Promise<void> {
  const owners = distinctOwners(targetsOf(plan))
  if (counts.changed + counts.missing > 0) {
    await runAll(engine, [...owners.map(keepHistory), ...owners.map(remove)])
    return
  }
  const ofMembers = owners.filter(target => holdsMembers(plan, target))
  if (counts.inferred > 0) await runAll(engine, ofMembers.map(remove))
}

/** Writes the rows of inferred members that the batch adds to. */
export async function applyMembers(engine: Engine, members: Members | undefined): Promise<void> {
  if (!members) return
  const { changed, statements } = members
  const dimensions = await engine.rows<ChangedDimension>(changed)
  await runAll(
    engine,
    dimensions.flatMap(one => statements(one)),
  )
}

async function runAll(engine: Engine, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await engine.run(sql)
}
