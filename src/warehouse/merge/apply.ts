/** Moves a delta into star, pii and history, one statement a table and step. */
import type { Engine } from '../engine.ts'
import { historyOf } from '../physical.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import type { StagePlan } from '../stage/plan.ts'
import type { DeltaCounts } from './delta.ts'
import { type MemberStep, memberSteps } from './members.ts'
import { type Target, targetsOf } from './targets.ts'

const nameOf = ({ schema, name }: { schema: string; name: string }): string => `${schema}.${quoteName(name)}`

/** What was held becomes history; rows known only by reference never were a version. */
function keepHistory(target: Target): string {
  const names = target.columns.map(([name]) => name)
  return `insert into ${nameOf(historyOf(target))} (${quoteNames([...names, 'valid_from', 'valid_to'])})
    select ${quoteNames(names, 't.')}, coalesce(t.source_updated_at, t.loaded_at), coalesce(d.source_updated_at, d.loaded_at)
    from ${nameOf(target)} t join delta d on ${target.ownedBy} where d.state in ('changed', 'gone')`
}

function remove(target: Target): string {
  return `delete from ${nameOf(target)} as t using delta d where ${target.ownedBy} and d.state in ('changed', 'stub', 'gone')`
}

function insert(target: Target): string {
  const names = quoteNames(target.columns.map(([name]) => name))
  const values = target.columns.map(([, value]) => value).join(', ')
  const where = target.where ? ` and ${target.where}` : ''
  return `insert into ${nameOf(target)} (${names}) select ${values}
    from ${target.stage} s join delta d on d.locator = s.locator where d.state in ('new', 'stub', 'changed')${where}`
}

/** Several lists may feed one table; what they replace in it is removed once. */
function distinctOwners(targets: readonly Target[]): Target[] {
  return [...new Map(targets.map(target => [`${nameOf(target)} ${target.ownedBy}`, target])).values()]
}

/** The statements that move the delta's rows, from the stages that hold any; none when nothing differs. */
function rowStatements(plan: StagePlan, counts: DeltaCounts, filled: ReadonlySet<string>): string[] {
  const targets = targetsOf(plan)
  const owners = distinctOwners(targets)
  const replaced = counts.changed + counts.gone + counts.stub > 0
  return [
    ...(counts.changed + counts.gone > 0 ? owners.map(keepHistory) : []),
    ...(replaced ? owners.map(remove) : []),
    ...(isArriving(counts) ? targets.filter(({ stage }) => filled.has(stage)).map(insert) : []),
  ]
}

const isArriving = (counts: DeltaCounts): boolean => counts.new + counts.changed + counts.stub > 0

/** The statements for members that the batch says something new about; makes their temporary tables on the way. */
async function memberStatements(engine: Engine, steps: readonly MemberStep[]): Promise<string[]> {
  if (steps.length === 0) return []
  await runAll(
    engine,
    steps.map(({ prepare }) => prepare),
  )
  const counts = steps.map(({ count }, index) => `select ${index} as step, n from (${count})`)
  const rows = await engine.rows<{ step: number; n: number }>(counts.join(' union all '))
  const busy = new Set(rows.filter(({ n }) => Number(n) > 0).map(({ step }) => Number(step)))
  return steps.filter((_, index) => busy.has(index)).flatMap(({ statements }) => statements)
}

/** Everything to be run inside the transaction. Temporary tables are made here, before it begins. */
export async function deltaStatements(
  engine: Engine,
  plan: StagePlan,
  delta: { readonly counts: DeltaCounts; readonly filled: ReadonlySet<string> },
): Promise<string[]> {
  const { counts, filled } = delta
  const members = isArriving(counts) ? memberSteps(plan, filled) : []
  return [...rowStatements(plan, counts, filled), ...(await memberStatements(engine, members))]
}

export async function runAll(engine: Engine, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await engine.run(sql)
}
