/** What checks found, run by run. */
import type { Engine } from '../../warehouse/engine.ts'
import type { CheckResultTable } from '../schema.ts'

export async function recordCheckResults(engine: Engine, rows: readonly CheckResultTable[]): Promise<void> {
  if (rows.length > 0) await engine.ledger.insertInto('ops.check_result').values(rows).execute()
}
