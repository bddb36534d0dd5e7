/** Tombstones: which records were marked as deleted, on what evidence, and when they came back. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { DeletionRow } from './tables.ts'

export async function recordDeletions(engine: Engine, rows: readonly DeletionRow[]): Promise<void> {
  const many = 500
  for (let from = 0; from < rows.length; from += many)
    await ledger(engine)
      .insertInto('ops.deletion')
      .values(rows.slice(from, from + many))
      .execute()
}

export async function recordUndeletions(
  engine: Engine,
  of: { readonly resource: string; readonly ids: readonly string[] },
  by: { readonly at: string; readonly run: string },
): Promise<void> {
  if (of.ids.length === 0) return
  await ledger(engine)
    .updateTable('ops.deletion')
    .set({ undeleted_at: by.at, undeleted_by: by.run })
    .where('resource', '=', of.resource)
    .where('record_id', 'in', [...of.ids])
    .where('undeleted_at', 'is', null)
    .execute()
}

/** Deletions of records that have not come back. */
export function standingDeletions(engine: Engine): Promise<DeletionRow[]> {
  return ledger(engine).selectFrom('ops.deletion').selectAll().where('undeleted_at', 'is', null).execute()
}
