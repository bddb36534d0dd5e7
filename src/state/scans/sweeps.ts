/** Sweeps: lists read whole for their ids alone, and what was concluded from them. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { ScanRow, SweepRow } from './tables.ts'

export async function openSweep(engine: Engine, row: SweepRow): Promise<void> {
  await ledger(engine).insertInto('ops.sweep').values(row).execute()
}

export async function updateSweep(engine: Engine, sweepId: string, change: Partial<SweepRow>): Promise<void> {
  await ledger(engine).updateTable('ops.sweep').set(change).where('sweep_id', '=', sweepId).execute()
}

/** The sweep that was cut off when the last run ended, if any. */
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

/** The last sweep that read the list whole, with this scope or with any. */
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
