/**
 * Notifies of everything that changed since the last notification, in one message a channel. What cannot be sent is sent
 * again by the next command; a failure never changes how a run ends.
 */
import type { StoredConnection } from '../../config/connection.ts'
import { type NotificationType, type NotifySettings, severities } from '../../config/notify.ts'
import type { Clock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { type Condition, readConditions } from '../../state/notifications/conditions.ts'
import {
  type NotifiedCondition,
  nextRow,
  notificationRows,
  recoveredState,
  replaceNotifications,
  runTopic,
} from '../../state/notifications/notifications.ts'
import type { NotificationRow } from '../../state/notifications/tables.ts'
import type { NotificationGroup } from '../../telemetry/notify/message.ts'
import { configuredChannels, type NotificationChannels, sendTo } from '../../telemetry/notify/send.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import { dagRunEndOf, type EndedTask } from '../dag/run-dag.ts'

export interface NotificationContext {
  readonly connection: StoredConnection
  readonly clock: Pick<Clock, 'now'>
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Redacts the secrets in a text. */
  hide(text: string): string
  warn(line: string): void
  /** Cancels sending when aborted. */
  readonly signal: AbortSignal
}

/** A run of a DAG that has ended. */
export interface EndedRun {
  readonly dag: string
  readonly tasks: readonly EndedTask[]
}

const runTypes = { done: 'runRecovered', later: 'runIncomplete', failed: 'runFailed' } as const

const runWords = {
  done: 'has recovered',
  later: 'was partial, the next run continues',
  failed: 'failed',
} as const

function runCondition({ dag, tasks }: EndedRun): Condition {
  const { state, reason } = dagRunEndOf(tasks)
  const missing = tasks.filter(one => one.state === 'failed' || one.state === 'later').map(({ task }) => task)
  return {
    topic: runTopic,
    subject: dag,
    type: runTypes[state],
    state: state === 'done' ? recoveredState : `${state}: ${missing.sort().join(', ')}`,
    message: `${dag} ${runWords[state]}${reason === null ? '' : `: ${reason}`}`,
    query: null,
  }
}

/** Empty for a type that is off. An alert may have a severity of its own, and its name is the first word of the subject. */
function rated({ connection }: NotificationContext, condition: Condition): NotifiedCondition[] {
  const { type, subject } = condition
  const [name] = subject.split(' ')
  const alert = type === 'alert' ? connection.alerts.find(one => one.name === name) : undefined
  const severity = alert?.severity ?? connection.notify?.types[type as NotificationType] ?? 'off'
  return severity === 'off' ? [] : [{ ...condition, severity }]
}

const channelsOf = (
  notify: NotifySettings,
  { connection, cwd, env, signal }: NotificationContext,
): NotificationChannels => {
  const { url, token, format, command, email, seconds } = notify
  const posted = url && { url: url.reveal(), token: token?.reveal(), proxies: connection.proxies }
  const mailed = email && { ...email, password: email.password?.reveal() }
  return { url: posted, format, command, email: mailed, cwd, env, timeoutMs: seconds * 1000, signal }
}

type SentRow = Pick<NotificationRow, 'type' | 'severity' | 'subject' | 'message' | 'query'>

const groupOf = ({ connection, hide }: NotificationContext, rows: readonly SentRow[]): NotificationGroup => ({
  connection: connection.name,
  notifications: rows
    .map(({ type, severity, subject, message, query }) => ({
      ...{ type, severity, subject, query },
      message: hide(message),
    }))
    .sort((one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity)),
})

/** Without a ledger nothing is remembered: only a run that was not done is reported, as its failure may be why. */
async function notifyUnrecorded(
  context: NotificationContext,
  notify: NotifySettings,
  run: EndedRun | undefined,
) {
  const condition = run && runCondition(run)
  if (!condition || condition.state === recoveredState) return
  const channels = channelsOf(notify, context)
  for (const row of rated(context, condition))
    for (const name of configuredChannels(channels)) {
      const failure = await sendTo(name, groupOf(context, [row]), channels)
      if (failure !== undefined) context.warn(notSent(name, failure))
    }
}

const notSent = (channel: string, why: string): string =>
  `a notification was not sent, and is tried again by the next command: notify.${channel}: ${why}`

/** The rows of the ledger after this run, without sending. */
async function nextRows(
  engine: Engine,
  {
    context,
    notify,
    run,
  }: { context: NotificationContext; notify: NotifySettings; run: EndedRun | undefined },
): Promise<NotificationRow[]> {
  const known = await notificationRows(engine)
  const rowOf = (topic: string, subject: string): NotificationRow | undefined =>
    known.find(row => row.topic === topic && row.subject === subject)
  const found = await readConditions(
    {
      engine,
      limits: notify,
      now: context.clock.now(),
      sentState: (topic, subject) => rowOf(topic, subject)?.sent_state ?? null,
    },
    topic => topic === 'alert' || notify.types[topic] !== 'off',
  )
  const conditions = [...(run ? [runCondition(run)] : []), ...(found ?? [])].flatMap(one =>
    rated(context, one),
  )
  const at = new Date(context.clock.now()).toISOString()
  const channels = configuredChannels(channelsOf(notify, context))
  const rows = conditions.flatMap(one => nextRow(rowOf(one.topic, one.subject), one, { channels, at }) ?? [])
  // A run of a type that is off leaves what was sent before, except when the DAG is done.
  const isOver = run !== undefined && dagRunEndOf(run.tasks).state === 'done'
  const others = known.filter(
    ({ topic, subject }) =>
      topic === runTopic &&
      !(isOver && subject === run.dag) &&
      !rows.some(row => row.topic === runTopic && row.subject === subject),
  )
  return [...others, ...rows]
}

async function sendPending(context: NotificationContext, notify: NotifySettings, rows: NotificationRow[]) {
  const channels = channelsOf(notify, context)
  const left = rows.map(row => ({
    row,
    pending: row.pending.split(',').filter(Boolean),
    errors: [] as string[],
  }))
  for (const name of configuredChannels(channels)) {
    const due = left.filter(({ pending }) => pending.includes(name))
    if (due.length === 0) continue
    const group = groupOf(
      context,
      due.map(({ row }) => row),
    )
    const failure = await sendTo(name, group, channels)
    if (failure !== undefined) context.warn(notSent(name, failure))
    for (const one of due) {
      if (failure === undefined) one.pending = one.pending.filter(other => other !== name)
      else one.errors.push(`${name}: ${failure}`)
    }
  }
  const sent_at = new Date(context.clock.now()).toISOString()
  return left.map(({ row, pending, errors }): NotificationRow => {
    if (row.pending === '') return row
    if (errors.length > 0)
      return { ...row, pending: pending.join(','), attempts: row.attempts + 1, error: errors.join('; ') }
    return { ...row, pending: '', error: null, sent_state: row.state, sent_at }
  })
}

/** Undefined if there is no ledger, or if it cannot be opened: the next command notifies. */
async function inLedger<Result>(
  connection: StoredConnection,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result | undefined> {
  if (!isMade(connection)) return undefined
  let engine: Engine | undefined
  try {
    engine = await openToWrite(connection)
    return (await existingTables(engine)).has('notification') ? await work(engine) : undefined
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  } finally {
    await engine?.close()
  }
}

/** Call once the run is in the ledger. `run` is the run of a DAG that this command has ended. */
export async function notifyOfChanges(context: NotificationContext, run?: EndedRun): Promise<void> {
  const { connection } = context
  const { notify } = connection
  if (!notify) return
  // Stored first: a process that is killed while it sends leaves them to the next command.
  const rows = await inLedger(connection, async engine => {
    const next = await nextRows(engine, { context, notify, run })
    await replaceNotifications(engine, next)
    return next
  })
  if (!rows) return notifyUnrecorded(context, notify, run)
  if (rows.every(({ pending }) => pending === '')) return
  // The warehouse is closed meanwhile: others may need the file.
  const sent = await sendPending(context, notify, rows)
  await inLedger(connection, engine => replaceNotifications(engine, sent))
}
