/** Until when the service told the key not to call: a process that starts meanwhile keeps to it too. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

/** Milliseconds since the epoch; 0 when nothing is known. */
export async function pausedUntil(engine: Engine, keyId: string): Promise<number> {
  const [row] = await ledger(engine)
    .selectFrom('ops.pause')
    .select('paused_until')
    .where('key_id', '=', keyId)
    .execute()
  return row ? Date.parse(row.paused_until) : 0
}

/** Pauses only grow. */
export async function recordPause(engine: Engine, keyId: string, untilMs: number): Promise<void> {
  if ((await pausedUntil(engine, keyId)) >= untilMs) return
  const until = { paused_until: new Date(untilMs).toISOString() }
  await ledger(engine)
    .insertInto('ops.pause')
    .values({ key_id: keyId, ...until })
    .onConflict(conflict => conflict.column('key_id').doUpdateSet(until))
    .execute()
}
