/** Whether the key still sees what it saw when the run began: `/me` is asked anew, as it may have lost a company since. */
import { readKey } from '../../api/client/key.ts'
import { scopeIdOf } from '../../state/evidence/key-scopes.ts'
import type { ResourceTask } from './context.ts'

export const currentScope = ({ sync }: Pick<ResourceTask, 'sync'>): string =>
  scopeIdOf(sync.apiKeyId, sync.key)

export async function isStillScope({ sync, tally }: ResourceTask, scopeId: string): Promise<boolean> {
  const { record, bytes } = await sync.client.getRecord('/me', {}, { purpose: 'reconcile' })
  tally.requests += 1
  return scopeIdOf(sync.apiKeyId, readKey(record, bytes)) === scopeId
}
