/** Removes rows of the ledger that are older than they are kept. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

/** Quarantined values of records that were loaded since. Runs inside a transaction. */
export async function removeResolvedQuarantine(engine: Engine, before: string): Promise<number> {
  const old = ledger(engine).selectFrom('ops.quarantine').where('resolved_at', '<', before)
  const count = (await old.select('quarantine_id').execute()).length
  if (count > 0) await ledger(engine).deleteFrom('ops.quarantine').where('resolved_at', '<', before).execute()
  return count
}
