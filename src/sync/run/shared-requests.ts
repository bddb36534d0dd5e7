/** The requests of a key as its processes share them, where the warehouse is one that several can write. */
import { reserves } from '../../api/budget/day.ts'
import { defaultPerDay, defaultPerMinute } from '../../api/client/key.ts'
import { type KeyRequests, shareRequests } from '../../state/requests/key-requests.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Undefined for a file, which has one process. `perMinute` is what an earlier run was told. */
export async function sharedRequests(
  engine: Engine,
  keyId: string,
  perMinute = defaultPerMinute,
): Promise<KeyRequests | undefined> {
  return shareRequests(engine, { keyId, perMinute, perDay: defaultPerDay, reserves: reserves })
}
