/** Whether a mart is made anew in part, and which changes its rows lack. */
import { type ChangesSeen, changesSince } from '../../state/marts/changes.ts'
import type { MartRow } from '../../state/marts/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Mart } from '../mart.ts'
import { followed } from './followed.ts'
import { type Parts, resourcesOfTouched, tablesOfTouched } from './parts.ts'

export interface PartialPlan {
  /** Up to which changes the rows include everything. */
  readonly seen: ChangesSeen
  /** Undefined when nothing changed that the statement of the mart reads. */
  readonly parts?: Parts
}

function seenBy(recorded: MartRow): ChangesSeen | undefined {
  const { changes_position: position, changes_counted: counted } = recorded
  return position === null || counted === null
    ? undefined
    : { position: Number(position), counted: Number(counted) }
}

/** Undefined when only a whole rebuild is sure to be right. `recorded` is of a table that the last build made as it is. */
export async function partialPlan(
  engine: Engine,
  mart: Mart,
  { recorded, basis, now }: { recorded: MartRow; basis: string; now: ChangesSeen },
): Promise<PartialPlan | undefined> {
  const seen = seenBy(recorded)
  if (seen === undefined || recorded.basis !== basis) return undefined
  const { resources, others } = followed(mart)
  const { parts } = mart
  const told = parts ? tablesOfTouched(parts) : []
  if (!others.every(table => told.includes(table))) return undefined
  const changes = await changesSince(engine, seen, now)
  if (changes === undefined) return undefined
  const changed = [...resources].filter(name => changes.has(name))
  // What follows the day is among the touched parts, so they are looked for without a change as well.
  if (!parts) return changed.length === 0 ? { seen } : undefined
  const listed = resourcesOfTouched(parts)
  const areListed = changed.every(name => listed.has(name) && changes.get(name) === 'listed')
  return areListed ? { seen, parts } : undefined
}
