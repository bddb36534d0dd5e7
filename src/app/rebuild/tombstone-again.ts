/** Tombstones of a warehouse that was made anew from its pages: those pages hold every record that was ever read. */
import { findResource } from '../../contract/catalogue.ts'
import { type Gone, tombstone } from '../../load/merge/tombstone.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { standingDeletions } from '../../state/evidence/deletions.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Inside the transaction that puts the rows in place, after ops.deletion is there. */
export async function tombstoneAgain(engine: Engine): Promise<void> {
  const byResource = new Map<string, Gone[]>()
  for (const { resource, record_id: id, deleted_at: at } of await standingDeletions(engine))
    byResource.set(resource, [...(byResource.get(resource) ?? []), { id, at }])
  for (const [name, rows] of byResource) {
    const resource = findResource(name)
    if (resource) await tombstone(engine, stagePlan(resource), rows)
  }
}
