/** Notifies when the status of a DAG changes. A failed notification never fails the run. */
import type { StoredConnection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { lastNotified } from '../../state/runs/dag-runs.ts'
import { runNotifier } from '../../telemetry/notifier.ts'
import { post } from '../../telemetry/post.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import { dagRunEndOf, type EndedTask } from './run-dag.ts'

interface NotifiedRun {
  readonly state: 'done' | 'later' | 'failed'
  /** Names of the tasks that were not done. */
  readonly tasks: readonly string[]
}

/** Whether the run differs from the last one that was notified. */
function isNews(run: NotifiedRun, last: NotifiedRun | undefined): boolean {
  if (run.state === 'done') return last !== undefined && last.state !== 'done'
  return last?.state !== run.state || last.tasks.toSorted().join() !== run.tasks.toSorted().join()
}

interface DagNotification extends NotifiedRun {
  readonly connection: string
  readonly dag: string
  readonly reason: string | null
}

const words = {
  done: 'has recovered',
  later: 'was partial, the next run continues',
  failed: 'failed',
} as const

/** Characters of a message; chat services cut or reject longer ones. */
const longest = 500

function messageOf({ connection, dag, state, reason }: DagNotification): string {
  const line = `${connection}: ${dag} ${words[state]}${reason === null ? '' : `: ${reason}`}`
  const flat = line.replaceAll(/\s+/g, ' ')
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat
}

interface NotificationContext {
  /** Undefined without readable settings. */
  readonly connection: StoredConnection | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Redacts the secrets in a text. */
  hide(text: string): string
  warn(line: string): void
  /** Cancels sending when aborted. */
  readonly signal: AbortSignal
}

interface NotificationResult {
  readonly state: 'done' | 'failed'
  readonly error?: string
}

/** The last notification; undefined if the warehouse cannot be read, which may be why the run failed. */
async function knownOf(connection: StoredConnection, dag: string): Promise<NotifiedRun | undefined> {
  if (!isMade(connection)) return undefined
  try {
    const engine = await openToWrite(connection)
    try {
      return await lastNotified(engine, dag)
    } finally {
      await engine.close()
    }
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  }
}

async function send(
  { notify, proxies }: StoredConnection,
  run: DagNotification,
  { cwd, env, hide, signal }: NotificationContext,
): Promise<readonly string[]> {
  if (!notify) return []
  const { url, token, command, seconds } = notify
  const text = hide(messageOf(run))
  const { connection, dag, state, tasks } = run
  const reason = run.reason === null ? null : hide(run.reason)
  const body = { text, connection, dag, state, tasks, reason }
  const timeoutMs = seconds * 1000
  const to = url && { url: url.reveal(), token: token?.reveal(), proxies, timeoutMs, signal }
  const posted = to && (await post(to, body))
  const variables = {
    MUSTER_MESSAGE: text,
    MUSTER_CONNECTION: connection,
    MUSTER_DAG: dag,
    MUSTER_STATE: state,
  }
  const ran =
    command === undefined
      ? undefined
      : await runNotifier({ command, timeoutMs, cwd, env: { ...env, ...variables }, signal }, text)
  return [
    ...(posted === undefined ? [] : [`notify.url: ${posted}`]),
    ...(ran === undefined ? [] : [`notify.command: ${ran}`]),
  ]
}

/** Call once the run is in the ledger. Returns undefined if there was nothing to notify. */
export async function notifyOfRun(
  notifier: NotificationContext,
  dag: string,
  outcomes: readonly EndedTask[],
): Promise<NotificationResult | undefined> {
  const { connection, warn } = notifier
  if (!connection?.notify) return undefined
  const tasks = outcomes.filter(({ state }) => state === 'failed' || state === 'later').map(one => one.task)
  const run = { ...dagRunEndOf(outcomes), connection: connection.name, dag, tasks }
  if (!isNews(run, await knownOf(connection, dag))) return undefined
  const failures = await send(connection, run, notifier)
  for (const failure of failures) warn(`the notification about ${dag} was not sent: ${failure}`)
  return failures.length === 0 ? { state: 'done' } : { state: 'failed', error: failures.join('; ') }
}
