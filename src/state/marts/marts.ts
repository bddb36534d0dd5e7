/** Records what each mart was last built from, how the last attempt went, and what the checks found. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { CheckResultRow, MartRow } from './tables.ts'

export async function recordedMarts(engine: Engine): Promise<ReadonlyMap<string, MartRow>> {
  const rows = await ledger(engine).selectFrom('ops.mart').selectAll().orderBy('name').execute()
  return new Map(rows.map(row => [row.name, row]))
}

export async function recordMart(engine: Engine, row: MartRow): Promise<void> {
  await ledger(engine).deleteFrom('ops.mart').where('name', '=', row.name).execute()
  await ledger(engine).insertInto('ops.mart').values(row).execute()
}

const neverBuilt = {
  definition_id: '',
  shape: '',
  sources: '',
  built_at: null,
  as_of: null,
  rows: null,
  milliseconds: null,
}

export type FailedMart = Pick<MartRow, 'name' | 'state' | 'message' | 'tried_at' | 'run_id'>

/** Keeps the figures of the last successful build; `recorded` is undefined without one. */
export async function recordFailedMart(
  engine: Engine,
  recorded: MartRow | undefined,
  failed: FailedMart,
): Promise<void> {
  await recordMart(engine, { ...(recorded ?? neverBuilt), ...failed })
}

export async function forgetMart(engine: Engine, name: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.mart').where('name', '=', name).execute()
}

/** Moves the as-of time of marts whose sources did not change: their rows are still current. */
export async function moveAsOf(engine: Engine, names: readonly string[], asOf: string | null): Promise<void> {
  if (names.length === 0) return
  await ledger(engine).updateTable('ops.mart').set({ as_of: asOf }).where('name', 'in', names).execute()
}

export async function recordCheckResults(engine: Engine, rows: readonly CheckResultRow[]): Promise<void> {
  if (rows.length > 0) await ledger(engine).insertInto('ops.check_result').values(rows).execute()
}
