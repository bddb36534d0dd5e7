/** A record on a page that was fetched after somebody found it gone is there: witnesses are void, tombstones go. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/** Inside a merge, when the temporary table stage_record is there; the tombstones themselves go with the merge. */
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
