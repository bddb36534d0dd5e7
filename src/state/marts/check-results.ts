/** What checks found, run by run. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { CheckResultRow } from './tables.ts'

export async function recordCheckResults(engine: Engine, rows: readonly CheckResultRow[]): Promise<void> {
  if (rows.length > 0) await ledger(engine).insertInto('ops.check_result').values(rows).execute()
}
