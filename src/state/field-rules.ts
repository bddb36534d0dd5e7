/** Records which field policy all stored data follows. */
import type { Engine } from '../warehouse/engine.ts'
import { existingTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'
import type { FieldRuleRow } from './privacy-tables.ts'

export async function readFieldRules(engine: Engine): Promise<readonly FieldRuleRow[]> {
  if (!(await existingTables(engine)).has('field_rule')) return []
  return ledger(engine).selectFrom('ops.field_rule').selectAll().orderBy('pattern').execute()
}

export const recordFieldRules = (engine: Engine, rows: readonly FieldRuleRow[]): Promise<void> =>
  engine.transaction(async engine => {
    await ledger(engine).deleteFrom('ops.field_rule').execute()
    if (rows.length > 0) await ledger(engine).insertInto('ops.field_rule').values(rows).execute()
  })

/** Whether no command has recorded a run yet, so that the warehouse is empty. */
export async function isUnused(engine: Engine): Promise<boolean> {
  return (await ledger(engine).selectFrom('ops.run').select('run_id').limit(1).execute()).length === 0
}
