/** Witnesses: who saw that a record is gone. One alone proves nothing; `muster sweep` tombstones what has two. */
import type { Engine } from '../engine.ts'
import type { WitnessTable } from './deletion-tables.ts'

export type Witness = Omit<WitnessTable, 'void_at' | 'void_reason'>

/**
 * Remembers that records were found gone; the same word of the same source counts once. Call it inside the transaction
 * of whatever else is written about them.
 */
export async function witness(engine: Engine, rows: readonly Witness[]): Promise<void> {
  const many = 500
  for (let from = 0; from < rows.length; from += many) {
    const values = rows.slice(from, from + many).map(row => ({ ...row, void_at: null, void_reason: null }))
    await engine.ledger
      .insertInto('ops.witness')
      .values(values)
      .onConflict(conflict => conflict.doNothing())
      .execute()
  }
}
