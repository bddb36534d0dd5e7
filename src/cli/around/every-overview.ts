/** `muster status --all`: all connections in this process, a few at a time, each from its overview. */
import PQueue from 'p-queue'
import { overviewOf } from '../../app/connection/overview.ts'
import { connectionNamed } from '../../config/settings.ts'
import { type ExitStatus, MusterError, UsageError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import { describeFailure } from '../failure.ts'
import {
  overviewColumns,
  overviewRow,
  overviewSummary,
  type Seen,
  seenAsJson,
} from '../reports/overview-lines.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

/** Sessions with servers wait for the network; files that changed since they were seen need a core each. */
const atOnce = 8

async function see(context: CommandContext, name: string): Promise<Seen> {
  try {
    const settings = context.storedSettingsOfAll()
    const fault = settings.faulty.get(name)
    if (fault !== undefined) return { connection: name, failure: fault }
    const overview = await overviewOf(connectionNamed(settings, name))
    return { connection: name, ...(overview && { overview }) }
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const { text } = describeFailure(error, {
      isVerbose: false,
      signal: context.signal,
      keyPlace: () => undefined,
    })
    return { connection: name, failure: text.replace(/^muster: /, '') }
  }
}

/** Ends with 1 when a warehouse cannot be read; how its nights went is what the lines say. */
export async function everyOverview(context: CommandContext): Promise<ExitStatus> {
  if (context.globals.connection !== undefined)
    throw new UsageError({ what: '--all and --connection exclude each other', next: 'give one of them' })
  const queue = new PQueue({ concurrency: atOnce })
  const all = await Promise.all(context.connectionNames().map(name => queue.add(() => see(context, name))))
  if (context.json) printJson(context, all.map(seenAsJson))
  else {
    printLine(context, overviewSummary(all))
    const now = context.clock.now()
    printTable(
      context,
      overviewColumns,
      all.map(seen => overviewRow(seen, now)),
    )
  }
  return all.some(({ failure }) => failure !== undefined) ? 1 : 0
}
