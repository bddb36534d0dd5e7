/** Sets and removes tombstones on records and everything that belongs to them; replaced versions become history. */
import { countChange } from '../../state/marts/writes.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { beganAt, foundMissingAt } from '../../warehouse/schema/record-rows.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'
import { intoHistory } from './apply.ts'
import { distinctOwners, type MergeTarget, targetsOf } from './targets.ts'

export interface GoneRecord {
  readonly id: string
  /** ISO 8601 time at which it was found missing, or seen again. */
  readonly at: string
}

/** Copies the version that was valid until now to history; for a tombstoned record, its time of absence. */
function keep(target: MergeTarget, isGone: boolean): string {
  return `${intoHistory(target)} ${isGone ? beganAt : foundMissingAt}, d.turned_at
    from ${qualified(target)} t join turned d on ${target.ownedBy} where ${isGone ? 'not ' : ''}t.is_deleted`
}

function turn(target: MergeTarget, isGone: boolean): string {
  const set = isGone ? 'is_deleted = true, deleted_at = d.turned_at' : 'is_deleted = false, deleted_at = null'
  return `update ${qualified(target)} as t set ${set}, valid_from = d.turned_at from turned d
    where ${target.ownedBy} and ${isGone ? 'not ' : ''}t.is_deleted`
}

async function turnAll(
  engine: Engine,
  plan: StagePlan,
  change: { rows: readonly GoneRecord[]; isGone: boolean },
) {
  const { rows, isGone } = change
  if (rows.length === 0) return
  await engine.run('drop table if exists turned')
  await engine.run('create temp table turned (record_key text, turned_at timestamptz)')
  const many = 500
  for (let from = 0; from < rows.length; from += many) {
    const values = rows.slice(from, from + many).map(({ id, at }) => `(${quoteText(id)}, ${quoteText(at)})`)
    await engine.run(`insert into turned values ${values.join(', ')}`)
  }
  for (const target of distinctOwners(targetsOf(plan))) {
    await engine.run(keep(target, isGone))
    await engine.run(turn(target, isGone))
  }
  await countChange(engine, plan.resource.name)
  await engine.run('drop table turned')
}

/** Runs inside the merge that also writes the evidence. */
export const tombstone = (engine: Engine, plan: StagePlan, rows: readonly GoneRecord[]): Promise<void> =>
  turnAll(engine, plan, { rows, isGone: true })

/** Makes the version from before the tombstone valid again. */
export const revive = (engine: Engine, plan: StagePlan, rows: readonly GoneRecord[]): Promise<void> =>
  turnAll(engine, plan, { rows, isGone: false })
