/** Moves a delta into star, pii and history, one statement a table and step. */
import type { Engine } from '../engine.ts'
import { historyOf } from '../physical.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import type { StagePlan } from '../stage/plan.ts'
import type { DeltaCounts } from './delta.ts'
import { memberSteps } from './members.ts'
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

export interface PreparedDelta {
  /** Temporary tables to be made before the transaction begins. */
  readonly prepare: readonly string[]
  readonly statements: readonly string[]
}

/** The statements that apply the delta, from the stages that hold rows; none when nothing differs. */
export function deltaStatements(
  plan: StagePlan,
  counts: DeltaCounts,
  filled: ReadonlySet<string>,
): PreparedDelta {
  const targets = targetsOf(plan)
  const owners = distinctOwners(targets)
  const replaced = counts.changed + counts.gone + counts.stub > 0
  const arriving = counts.new + counts.changed + counts.stub > 0
  const members = arriving ? memberSteps(plan, filled) : []
  return {
    prepare: members.map(step => step.prepare),
    statements: [
      ...(counts.changed + counts.gone > 0 ? owners.map(keepHistory) : []),
      ...(replaced ? owners.map(remove) : []),
      ...(arriving ? targets.filter(({ stage }) => filled.has(stage)).map(insert) : []),
      ...members.flatMap(step => step.statements),
    ],
  }
}

export async function runAll(engine: Engine, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await engine.run(sql)
}
