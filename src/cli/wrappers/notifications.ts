/** Notifies of what a command has changed in the warehouse. Loads the code for it only for connections with `notify`. */
import type { NotificationContext } from '../../app/notify/notify.ts'
import type { StoredConnection } from '../../config/connection.ts'
import type { ExitStatus } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import { lastWordsMs, soonAfter } from '../stop-signal.ts'
import { connectionOf } from './lineage.ts'

export const notificationContext = (
  { clock, cwd, env, hidden, signal, stderr }: CommandContext,
  connection: StoredConnection,
): NotificationContext => ({
  ...{ connection, clock, cwd, env },
  hide: hidden,
  signal: soonAfter(signal, lastWordsMs),
  warn: line => void stderr.write(`warning: ${line}\n`),
})

/** Runs the command, and notifies whether or not it fails. */
export async function withNotifications(
  context: CommandContext,
  work: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  try {
    return await work(context)
  } finally {
    const connection = connectionOf(context)
    if (connection?.notify) {
      const { notifyOfChanges } = await import('../../app/notify/notify.ts')
      await notifyOfChanges(notificationContext(context, connection))
    }
  }
}
