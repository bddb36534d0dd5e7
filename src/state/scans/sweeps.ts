/** Sweeps: lists read whole for their ids alone, window by window, with what proves each window complete. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { SweepIdTable, SweepTable, SweepWindowTable } from './tables.ts'

export async function openSweepRow(engine: Engine, row: SweepTable): Promise<void> {
  await ledger(engine).insertInto('ops.sweep').values(row).execute()
}

export async function updateSweep(
  engine: Engine,
  sweepId: string,
  change: Partial<SweepTable>,
): Promise<void> {
  await ledger(engine).updateTable('ops.sweep').set(change).where('sweep_id', '=', sweepId).execute()
}

/** The sweep that was under way when the last run ended, if any. */
export async function unfinishedSweep(engine: Engine, resource: string): Promise<SweepTable | undefined> {
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
): Promise<SweepTable | undefined> {
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

/** Newest first, which is the order in which they are walked. */
export async function sweepWindows(engine: Engine, sweepId: string): Promise<SweepWindowTable[]> {
  return ledger(engine)
    .selectFrom('ops.sweep_window')
    .selectAll()
    .where('sweep_id', '=', sweepId)
    .orderBy('number')
    .execute()
}

export async function openSweepWindow(engine: Engine, row: SweepWindowTable): Promise<void> {
  await ledger(engine).insertInto('ops.sweep_window').values(row).execute()
}

type WindowName = Pick<SweepWindowTable, 'sweep_id' | 'number'>

export async function updateSweepWindow(
  engine: Engine,
  { sweep_id, number }: WindowName,
  change: Partial<SweepWindowTable>,
): Promise<void> {
  await ledger(engine)
    .updateTable('ops.sweep_window')
    .set(change)
    .where('sweep_id', '=', sweep_id)
    .where('number', '=', number)
    .execute()
}

export async function addSweepIds(engine: Engine, rows: readonly SweepIdTable[]): Promise<void> {
  const many = 1000
  for (let from = 0; from < rows.length; from += many)
    await ledger(engine)
      .insertInto('ops.sweep_id')
      .values(rows.slice(from, from + many))
      .execute()
}

/** Different ids: a row that moved while its window was walked is on two pages. */
export async function countSweepIds(engine: Engine, { sweep_id, number }: WindowName): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    'select count(distinct record_id) as n from ops.sweep_id where sweep_id = $1 and number = $2',
    [sweep_id, Number(number)],
  )
  return Number(row?.n ?? 0)
}

/** Those of one window, for another walk through it; all of the sweep's when it is over. */
export async function forgetSweepIds(engine: Engine, sweepId: string, number?: number): Promise<void> {
  let query = ledger(engine).deleteFrom('ops.sweep_id').where('sweep_id', '=', sweepId)
  if (number !== undefined) query = query.where('number', '=', number)
  await query.execute()
}
