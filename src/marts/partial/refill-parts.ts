/** Fills a mart in part, where that gives the rows of a whole rebuild. */
import { type ChangesSeen, changesNow } from '../../state/marts/changes.ts'
import type { MartRow } from '../../state/marts/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Moment } from '../inputs.ts'
import type { Mart } from '../mart.ts'
import { shapeOf } from '../table.ts'
import { partialPlan } from './choose.ts'
import { rebuildParts } from './rebuild-parts.ts'

/** A merge of another process committed meanwhile: statements before and after it saw different rows. */
export class Overtaken extends Error {}

export interface PartsRefill {
  readonly engine: Engine
  readonly mart: Mart
  /** Its row in ops.mart; undefined when it was never built. */
  readonly recorded: MartRow | undefined
  readonly hasTable: boolean
  /** See basisOf; what it was computed from is of the moment `changes`. */
  readonly basis: string
  readonly changes: ChangesSeen
  /** Whether all rows are made anew, whatever changed. */
  readonly isWhole: boolean
  readonly moment: Moment
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const areSame = (one: ChangesSeen, other: ChangesSeen): boolean =>
  one.position === other.position && one.counted === other.counted

const isAsMade = ({ mart, recorded, hasTable }: PartsRefill): boolean =>
  hasTable &&
  recorded?.state === 'built' &&
  recorded.shape === shapeOf(mart) &&
  recorded.definition_id === mart.definitionId

/**
 * Inside the transaction of the mart; `before` is the state of changes at its beginning. Undefined where the mart is to be
 * filled whole. Throws Overtaken where that became necessary meanwhile.
 */
export async function refillParts(
  rebuild: PartsRefill,
  before: ChangesSeen,
): Promise<{ readonly rows: number; readonly made: number } | undefined> {
  const { engine, mart, recorded, basis, changes, moment, now } = rebuild
  if (rebuild.isWhole || !recorded || !isAsMade(rebuild) || !areSame(before, changes)) return undefined
  const plan = await partialPlan(engine, mart, { recorded, basis, now: before })
  if (!plan) return undefined
  const filled = await rebuildParts(engine, {
    ...plan,
    mart,
    moment: { ...moment, now: new Date(now()).toISOString() },
    rows: Number(recorded.rows),
  })
  if (filled && !areSame(await changesNow(engine), before)) throw new Overtaken()
  return filled
}
