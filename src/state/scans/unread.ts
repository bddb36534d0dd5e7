/** Records that a sweep saw and the warehouse lacks: noted until a walk has read them. */

import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { recordRows } from '../../warehouse/schema/record-rows.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { UnreadRow } from './tables.ts'

/** Those of a resource that are still to be read; what was read meanwhile is forgotten. */
export async function stillUnread(engine: Engine, resource: Resource): Promise<UnreadRow[]> {
  await engine.run(
    `delete from ops.unread where resource = $1 and exists (
       select 1 from ${recordRows(resource)} and t.${quoteName(resource.table.key)} = unread.record_id
         and t.source_updated_at >= cast(unread.updated_at as timestamptz))`,
    [resource.name],
  )
  return ledger(engine).selectFrom('ops.unread').selectAll().where('resource', '=', resource.name).execute()
}

/** After a walk over the days of these: what is not read by now is gone since, or in quarantine. */
export async function forgetUnread(engine: Engine, resource: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.unread').where('resource', '=', resource).execute()
}
