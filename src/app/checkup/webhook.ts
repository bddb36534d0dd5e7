/** Whether `muster serve` could tell genuine events from forged ones; says nothing where nobody receives any. */
import type { Connection } from '../../config/connection.ts'
import { existingTables } from '../../state/existing-tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Finding, ok, warn } from './finding.ts'

async function hasReceived(engine: Engine | undefined): Promise<boolean> {
  if (!engine || !(await existingTables(engine)).has('inbox')) return false
  return (await engine.rows('select event_id from ops.inbox limit 1')).length > 0
}

export async function webhookFindings(
  { webhook }: Pick<Connection, 'webhook'>,
  engine: Engine | undefined,
): Promise<Finding[]> {
  if (webhook?.previousSecret)
    return [
      warn(
        'webhook',
        'two signing secrets are accepted',
        'remove previousSecret once every webhook signs with the new one',
      ),
    ]
  if (webhook) return [ok('webhook', `a signing secret; headers begin with ${webhook.headerPrefix}`)]
  if (!(await hasReceived(engine))) return []
  return [
    warn(
      'webhook',
      'events were received, and there is no signing secret any more',
      'set webhook.secret or MUSTER_WEBHOOK_SECRET: muster serve does not start without one',
    ),
  ]
}
