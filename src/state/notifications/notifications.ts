/** Decides which conditions are news, and keeps what is still to be sent for the next command. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { NotificationRow } from './tables.ts'

/** Something that users are notified of as long as it holds. */
export type NotifiedCondition = Pick<
  NotificationRow,
  'topic' | 'subject' | 'type' | 'severity' | 'state' | 'message' | 'query'
>

/** The topic of the ends of DAGs. Other topics are read again each time. */
export const runTopic = 'run'
/** The state of a DAG that is done. */
export const recoveredState = 'done'

/**
 * The row of a condition. A state that was sent last is no news, and neither is the recovery of a run that no notification
 * reported. `channels` are those of the settings.
 */
export function nextRow(
  known: NotificationRow | undefined,
  condition: NotifiedCondition,
  { channels, at }: { readonly channels: readonly string[]; readonly at: string },
): NotificationRow | undefined {
  const sent = { sent_state: known?.sent_state ?? null, sent_at: known?.sent_at ?? null }
  const isRecovery = condition.topic === runTopic && condition.state === recoveredState
  if (isRecovery && sent.sent_state === null) return undefined
  if (condition.state === sent.sent_state)
    return { ...condition, ...sent, seen_at: known?.seen_at ?? at, pending: '', attempts: 0, error: null }
  if (!known || known.state !== condition.state)
    return { ...condition, ...sent, seen_at: at, pending: channels.join(','), attempts: 0, error: null }
  const left = known.pending.split(',').filter(channel => channels.includes(channel))
  return { ...known, ...condition, pending: (left.length > 0 ? left : channels).join(',') }
}

export async function notificationRows(engine: Engine): Promise<NotificationRow[]> {
  const rows = await ledger(engine).selectFrom('ops.notification').selectAll().execute()
  return rows.map(row => ({ ...row, attempts: Number(row.attempts) }))
}

/** Replaces the stored rows by these: conditions that are over disappear. */
export async function replaceNotifications(engine: Engine, rows: readonly NotificationRow[]): Promise<void> {
  await engine.transaction(async engine => {
    await ledger(engine).deleteFrom('ops.notification').execute()
    for (const row of rows) await ledger(engine).insertInto('ops.notification').values(row).execute()
  })
}
