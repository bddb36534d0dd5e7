/** Decides whether a command sends lineage events. Loads the code for it only for connections with `lineage`. */
import type { StoredConnection } from '../../config/connection.ts'
import { type ExitStatus, MusterError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import type { LineageJob } from './lineage-events.ts'

/** Undefined if the settings cannot be read; the command itself reports why. */
export function connectionOf(context: CommandContext): StoredConnection | undefined {
  try {
    return context.hasSettings() ? context.stored() : undefined
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  }
}

/** Runs the command, with events before and after it where the settings have `lineage`. */
export async function withLineage(
  context: CommandContext,
  job: LineageJob,
  work: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const connection = connectionOf(context)
  const settings = connection?.lineage
  if (!connection || !settings) return work(context)
  const { withEvents } = await import('./lineage-events.ts')
  return withEvents(context, { ...job, connection, settings }, work)
}
