/** Records that merges changed, in the order of their commits: by them a build finds the rows of a mart to make anew. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/** A merge that changes more records is one row: marts that read its resource are then built whole. */
const mostListed = 10_000

/** Merges take turns, so the next number is that of the last commit and one. */
const next = '(select coalesce(max(position), 0) + 1 as position from ops.changed_record) as next'

/** Before the first build, which makes every row, nobody would ever remove what is listed. */
const isAnyBuilt = 'exists (select 1 from ops.mart)'

const insert = 'insert into ops.changed_record (position, resource, record_id, changes)'

/**
 * In the merge that changes the records. `ids` is SQL of a table with their keys in record_key; `changes` are those that the
 * run counts for them.
 */
export async function recordChanges(
  engine: Engine,
  resource: string,
  { ids, changes }: { readonly ids: string; readonly changes: number },
): Promise<void> {
  if (changes === 0) return
  const name = quoteText(resource)
  await engine.run(
    changes > mostListed
      ? `${insert} select next.position, ${name}, '', ${changes} from ${next} where ${isAnyBuilt}`
      : `${insert} select next.position, ${name}, changed.record_key, 1 from ${ids} as changed cross join ${next}
         where ${isAnyBuilt}`,
  )
}

/** How far changes had come at a moment. */
export interface ChangesSeen {
  readonly position: number
  /** Changes that all runs have counted. */
  readonly counted: number
}

export async function changesNow(engine: Engine): Promise<ChangesSeen> {
  const [row] = await engine.rows<{ position: number; counted: number }>(
    `select (select coalesce(max(position), 0) from ops.changed_record) as position,
       (select cast(coalesce(sum(rows_inserted + rows_changed + rows_removed), 0) as bigint) from ops.run) as counted`,
  )
  return { position: Number(row?.position), counted: Number(row?.counted) }
}

/** Whether a resource has a list of its changed records, by its name. */
export type ChangedResources = ReadonlyMap<string, 'listed' | 'many'>

/**
 * Undefined when the list is not all that changed: runs count every change in the transaction that makes it, so their sum
 * tells of one that nobody listed.
 */
export async function changesSince(
  engine: Engine,
  seen: ChangesSeen,
  now: ChangesSeen,
): Promise<ChangedResources | undefined> {
  const rows = await engine.rows<{ resource: string; changes: number; many: number }>(
    `select resource, cast(sum(changes) as bigint) as changes, count(case when record_id = '' then 1 end) as many
     from ops.changed_record where position > ${seen.position} group by resource`,
  )
  const listed = rows.reduce((sum, { changes }) => sum + Number(changes), 0)
  if (listed !== now.counted - seen.counted) return undefined
  return new Map(rows.map(({ resource, many }) => [resource, Number(many) > 0 ? 'many' : 'listed']))
}

/** SQL of a table with the column record_id. */
export const changedRecords = (resource: string, { position }: ChangesSeen): string =>
  `(select distinct record_id from ops.changed_record where position > ${position} and resource = ${quoteText(resource)})`

/** What every mart includes is forgotten; the last one stays, as numbers go on from it. */
export async function forgetSeenChanges(engine: Engine): Promise<void> {
  await engine.run(
    `delete from ops.changed_record where position <= (select min(changes_position) from ops.mart)
       and position < (select max(last.position) from ops.changed_record as last)`,
  )
}
