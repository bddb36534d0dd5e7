/** Whether `muster serve` can verify events: it needs a signing secret. No finding where no events are received. */
import type { Connection } from '../../config/connection.ts'
import { hasReceivedEvents } from '../../state/inbox/figures.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Finding, ok, warn } from './finding.ts'

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
  if (!engine || !(await hasReceivedEvents(engine))) return []
  return [
    warn(
      'webhook',
      'events were received earlier, but there is no signing secret now',
      'set webhook.secret or MUSTER_WEBHOOK_SECRET: muster serve does not start without one',
    ),
  ]
}
