/** The connection that a DAG belongs to: its ledger, its messages and its waiting are those of that connection. */
import type { StoredConnection } from '../../config/connection.ts'
import { UsageError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'

/**
 * Asked before any task runs: settings that are wrong, or a connection that they do not have, end the command. Undefined where
 * there are no settings, or several connections and none is named: each task says for itself what it needs.
 */
export function connectionOfDag(context: CommandContext): StoredConnection | undefined {
  if (!context.hasSettings()) return undefined
  try {
    return context.stored()
  } catch (error) {
    if (error instanceof UsageError && context.globals.connection === undefined) return undefined
    throw error
  }
}
