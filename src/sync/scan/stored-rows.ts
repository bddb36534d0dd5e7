/** Rows of a list that are stored, by their time of change. */
import { utcDay } from '../../lib/dates.ts'
import { openCases } from '../../state/evidence/evidence.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { ResourceTask } from '../run/context.ts'

/** Live rows that changed from the first moment on and before the second one, both as timestamps. */
async function storedBetween(
  engine: Engine,
  { resource }: ResourceTask,
  [from, before]: readonly [string, string],
): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from star.${quoteName(resource.table.name)}
     where source_updated_at >= cast($1 as timestamptz) and source_updated_at < cast($2 as timestamptz)
       and not is_deleted`,
    [from, before],
  )
  return Number(row?.n ?? 0)
}

const everBefore = '0001-01-01T00:00:00Z'
const everAfter = '9999-12-31T00:00:00Z'

/**
 * Stored rows since a day: about as many as the filtered list has, so a scan can begin near its last page. Without this
 * estimate it would ask for page 1 first, only to learn the total.
 */
export const storedSince = (task: ResourceTask, day: string): Promise<number> =>
  storedBetween(task.sync.engine, task, [`${day}T00:00:00Z`, everAfter])

interface Part {
  /** As the service wrote it. */
  readonly oldest: string
  /** First day of a list that is filtered by its time of change. */
  readonly fromDay: string | null
}

/**
 * At most so many rows of the list are as old as this time, apart from those that it hides: stored ones, and those in
 * quarantine. The zone of a day filter is unknown, so that it may let in rows of the day before.
 */
export async function knownUpTo(engine: Engine, task: ResourceTask, part: Part): Promise<number> {
  const from = part.fromDay === null ? everBefore : `${utcDay(part.fromDay, -1)}T00:00:00Z`
  const before = new Date(Date.parse(part.oldest) + 1).toISOString()
  const { quarantined } = await openCases(engine, task.resource.name)
  return quarantined + (await storedBetween(engine, task, [from, before]))
}
