/** Stores watermarks: up to which change each list has been read. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { WatermarkRow } from './tables.ts'

export async function readWatermark(engine: Engine, resource: string): Promise<WatermarkRow | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.watermark')
    .selectAll()
    .where('resource', '=', resource)
    .execute()
  return row
}

/** Sets the given columns. Runs inside the transaction that loads the rows up to the watermark. */
export async function moveWatermark(
  engine: Engine,
  resource: string,
  change: Partial<WatermarkRow> & Pick<WatermarkRow, 'run_id' | 'moved_at'>,
): Promise<void> {
  const row: WatermarkRow = {
    watermark: null,
    pending_watermark: null,
    earliest_day: null,
    remembered_total: null,
    page_size: null,
    hidden_rows: null,
    backfilled_at: null,
    empty_since: null,
    same_rows: null,
    changes_filter: null,
    filter_asked_at: null,
    ...change,
    resource,
  }
  await ledger(engine)
    .insertInto('ops.watermark')
    .values(row)
    .onConflict(conflict => conflict.column('resource').doUpdateSet(change))
    .execute()
}

/** The page size of the list has changed: the next scan determines it again. */
export async function forgetPageSize(engine: Engine, resource: string): Promise<void> {
  await ledger(engine)
    .updateTable('ops.watermark')
    .set({ page_size: null })
    .where('resource', '=', resource)
    .execute()
}

/** As if the list had never been read. */
export async function forgetWatermark(engine: Engine, resource: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.watermark').where('resource', '=', resource).execute()
}
