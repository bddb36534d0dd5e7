/** Stores sweeps, and records whose current version is not stored according to a sweep or a crosscheck. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { recordRows } from '../../warehouse/schema/record-rows.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { ScanRow, SweepRow, UnreadRow } from './tables.ts'

export async function openSweep(engine: Engine, row: SweepRow): Promise<void> {
  await ledger(engine).insertInto('ops.sweep').values(row).execute()
}

export async function updateSweep(engine: Engine, sweepId: string, change: Partial<SweepRow>): Promise<void> {
  await ledger(engine).updateTable('ops.sweep').set(change).where('sweep_id', '=', sweepId).execute()
}

/** The sweep interrupted by the end of the last run, if any. */
export async function unfinishedSweep(engine: Engine, resource: string): Promise<SweepRow | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.sweep')
    .selectAll()
    .where('resource', '=', resource)
    .where('state', '=', 'sweeping')
    .orderBy('started_at', 'desc')
    .limit(1)
    .execute()
  return row
}

/** The last sweep that read the list completely, with this scope or with any. */
export async function lastSweep(
  engine: Engine,
  resource: string,
  scopeId?: string,
): Promise<SweepRow | undefined> {
  let query = ledger(engine)
    .selectFrom('ops.sweep')
    .selectAll()
    .where('resource', '=', resource)
    .where('state', '=', 'accepted')
    .orderBy('started_at', 'desc')
    .limit(1)
  if (scopeId !== undefined) query = query.where('scope_id', '=', scopeId)
  const [row] = await query.execute()
  return row
}

/** The scans of its windows, newest first, which is the order in which they are read. */
export async function sweepScans(engine: Engine, sweepId: string): Promise<ScanRow[]> {
  return ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('sweep_id', '=', sweepId)
    .orderBy('scan_id')
    .execute()
}

/** Whether a sweep has seen records of a resource that were not stored. */
export async function isAnyUnread(engine: Engine, resource: string): Promise<boolean> {
  const query = ledger(engine).selectFrom('ops.unread').select('record_id').where('resource', '=', resource)
  return (await query.limit(1).execute()).length > 0
}

/** Records of a resource still to be read; deletes those read in the meantime. */
export async function stillUnread(engine: Engine, resource: Resource): Promise<UnreadRow[]> {
  await engine.run(
    `delete from ops.unread where resource = $1 and exists (
       select 1 from ${recordRows(resource)} and t.${quoteName(resource.table.key)} = unread.record_id
         and t.source_updated_at >= cast(unread.updated_at as timestamptz) and t.row_hash <> '' and not t.is_deleted)`,
    [resource.name],
  )
  return ledger(engine).selectFrom('ops.unread').selectAll().where('resource', '=', resource.name).execute()
}

export interface UnreadRecord {
  readonly id: string
  /** As the service writes them. */
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

export async function noteUnreadRecords(
  engine: Engine,
  resource: string,
  { records, at }: { readonly records: readonly UnreadRecord[]; readonly at: string },
): Promise<void> {
  for (const { id, createdAt, updatedAt } of records)
    await ledger(engine)
      .insertInto('ops.unread')
      .values({ resource, record_id: id, created_at: createdAt, updated_at: updatedAt, noted_at: at })
      .onConflict(conflict =>
        conflict
          .columns(['resource', 'record_id'])
          .doUpdateSet({ created_at: createdAt, updated_at: updatedAt, noted_at: at }),
      )
      .execute()
}

/** Runs after a scan of the days of these records: one that it did not read is missing now, or in quarantine. */
export async function forgetUnread(engine: Engine, resource: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.unread').where('resource', '=', resource).execute()
}
