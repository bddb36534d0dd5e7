/** Tells people how a night ended, if that is news to them. What cannot be told never fails the night. */

import type { StoredConnection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { lastTold } from '../../state/runs/told.ts'
import { isNews, messageOf, type NightEnded, type NightTold } from '../../telemetry/notify/message.ts'
import { runNotifier } from '../../telemetry/notify/run-command.ts'
import { post } from '../../telemetry/post.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import { type NightTask, nightOf } from './run-dag.ts'

export interface Teller {
  /** Undefined without settings that can be read, or without `notify` in them. */
  readonly connection: StoredConnection | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Replaces the secrets in a text. */
  hide(text: string): string
  warn(line: string): void
  /** Ends what is being sent when aborted. */
  readonly signal: AbortSignal
}

export interface Telling {
  readonly state: 'done' | 'failed'
  readonly error?: string
}

/** A warehouse that cannot be read may be why the night failed: then nothing is known of earlier messages. */
async function knownOf(connection: StoredConnection, dag: string): Promise<NightTold | undefined> {
  if (!isMade(connection)) return undefined
  try {
    const engine = await openToWrite(connection)
    try {
      return await lastTold(engine, dag)
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
  night: NightEnded,
  { cwd, env, hide, signal }: Teller,
): Promise<readonly string[]> {
  if (!notify) return []
  const { url, token, command, seconds } = notify
  const text = hide(messageOf(night))
  const { connection, dag, state, tasks } = night
  const reason = night.reason === null ? null : hide(night.reason)
  const body = { text, connection, dag, state, tasks, reason }
  const timeoutMs = seconds * 1000
  const to = url && { url: url.reveal(), token: token?.reveal(), proxies, timeoutMs, signal }
  const posted = to && (await post(to, body))
  const told = { MUSTER_MESSAGE: text, MUSTER_CONNECTION: connection, MUSTER_DAG: dag, MUSTER_STATE: state }
  const ran =
    command === undefined
      ? undefined
      : await runNotifier({ command, timeoutMs, cwd, env: { ...env, ...told }, signal }, text)
  return [
    ...(posted === undefined ? [] : [`notify.url: ${posted}`]),
    ...(ran === undefined ? [] : [`notify.command: ${ran}`]),
  ]
}

/** To be called once the night is in the ledger; `undefined` when there was nothing to tell. */
export async function tellNight(
  teller: Teller,
  dag: string,
  outcomes: readonly NightTask[],
): Promise<Telling | undefined> {
  const { connection, warn } = teller
  if (!connection?.notify) return undefined
  const tasks = outcomes.filter(({ state }) => state === 'failed' || state === 'later').map(one => one.task)
  const night = { ...nightOf(outcomes), connection: connection.name, dag, tasks }
  if (!isNews(night, await knownOf(connection, dag))) return undefined
  const failures = await send(connection, night, teller)
  for (const failure of failures) warn(`nobody could be told how ${dag} ended: ${failure}`)
  return failures.length === 0 ? { state: 'done' } : { state: 'failed', error: failures.join('; ') }
}
