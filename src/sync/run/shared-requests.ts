/** The requests of a key as its processes share them, where the warehouse is one that several can write. */
import { RESERVES } from '../../api/budget/day.ts'
import { DEFAULT_PER_DAY, DEFAULT_PER_MINUTE } from '../../api/client/key.ts'
import { type KeyRequests, shareRequests } from '../../state/requests/key-requests.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Undefined for a file, which has one process. `perMinute` is what an earlier run was told. */
export async function sharedRequests(
  engine: Engine,
  keyId: string,
  perMinute = DEFAULT_PER_MINUTE,
): Promise<KeyRequests | undefined> {
  return shareRequests(engine, { keyId, perMinute, perDay: DEFAULT_PER_DAY, reserves: RESERVES })
}
