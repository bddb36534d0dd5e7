/** Open cases of a resource: evidence, deletions and quarantined records that a record on a page may close. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

export interface OpenCases {
  /** Evidence and deletions that a record on a page would contradict. */
  readonly suspects: number
  /** Records that could not be loaded so far. */
  readonly quarantined: number
}

/** Counted once for every batch: most resources have none, and nothing else is asked then. */
export async function openCases(engine: Engine, resource: string): Promise<OpenCases> {
  const [row] = await engine.rows<OpenCases>(
    `select (select count(*) from ops.witness where resource = $1 and void_at is null)
       + (select count(*) from ops.deletion where resource = $1 and undeleted_at is null) as suspects,
       (select count(*) from ops.quarantine where resource = $1 and resolved_at is null) as quarantined`,
    [resource],
  )
  return { suspects: Number(row?.suspects ?? 0), quarantined: Number(row?.quarantined ?? 0) }
}

/**
 * A record that was fetched after it was found missing is there: the evidence is void and the deletion is undone. Inside a
 * merge, where the temporary table stage_record exists; the merge itself removes the tombstones.
 */
export async function recordSightings(engine: Engine, resource: string): Promise<void> {
  const of = `from stage_record as s where x.resource = ${quoteText(resource)} and s.record_key = x.record_id`
  await engine.run(
    `update ops.deletion as x set undeleted_at = s.loaded_at, undeleted_by = s.run_id
     ${of} and x.undeleted_at is null and s.loaded_at > x.deleted_at`,
  )
  await engine.run(
    `update ops.witness as x set void_at = s.loaded_at, void_reason = 'read again by run ' || s.run_id
     ${of} and x.void_at is null and s.loaded_at > x.seen_at`,
  )
}
