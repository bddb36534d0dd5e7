/** `muster metrics`: prints the figures of one or all connections in the Prometheus text format. */
import { resolve } from 'node:path'
import PQueue from 'p-queue'
import { readerOf } from '../../app/connection/overview.ts'
import { connectionNamed } from '../../config/settings.ts'
import { type ExitStatus, MusterError, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { readFigures } from '../../state/monitoring.ts'
import { type ExposedReadings, exposition, ledgerReadings } from '../../telemetry/prometheus.ts'
import { beginningOf, requireOutput, writeOutput } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { describeFailure } from '../failure.ts'
import { guardedBy } from '../guarded.ts'

export const command: CommandModule = {
  options: [
    { flags: '--file <file>', summary: 'write to this file, for the textfile collector of node_exporter' },
    { flags: '--force', summary: 'replace a file that another program wrote' },
  ],
  notes: ['muster serve returns the same at /metrics. A connection that cannot be read has is_readable 0.'],
  takesAll: (context, options) => expose(context, context.connectionNames(), options),
  examples: ['muster metrics', 'muster metrics --all --file /var/lib/node_exporter/textfile/muster.prom'],
  run: async (context, _, options) => expose(context, [context.stored().name], options),
}

/** Reading a file that changed takes a core. */
const atOnce = 4

async function expose(
  context: CommandContext,
  names: readonly string[],
  options: Options,
): Promise<ExitStatus> {
  if (context.json)
    throw new UsageError({ what: 'metrics have a format of their own', next: 'leave out --json' })
  const file = textOption(options, 'file')
  const rules = {
    guarded: guardedBy(context),
    isForced: flagOption(options, 'force'),
    isOurs: (path: string) => beginningOf(path).includes(' muster_'),
  }
  if (file !== undefined) requireOutput(resolve(context.cwd, file), rules)
  const queue = new PQueue({ concurrency: atOnce })
  const seen = await Promise.all(names.map(name => queue.add(() => see(context, name))))
  const text = await exposition(seen)
  // Output for a program: not wrapped to the terminal's width.
  if (file === undefined) context.stdout.write(`${text.trimEnd()}\n`)
  else writeOutput(resolve(context.cwd, file), text, rules)
  const faults = seen.filter(({ isReadable }) => !isReadable)
  if (faults.length === 0) return 0
  return faults.every(({ isLocked }) => isLocked) ? 75 : 1
}

/** `isLocked`: another process has it locked, so it can be read later. */
type ConnectionReadings = ExposedReadings & { readonly isReadable: boolean; readonly isLocked: boolean }

async function see(context: CommandContext, name: string): Promise<ConnectionReadings> {
  const readingsOf = (
    readings: Parameters<typeof ledgerReadings>[0],
    isLocked = false,
  ): ConnectionReadings => ({
    connection: name,
    isReadable: readings.isReadable,
    isLocked,
    readings: ledgerReadings(readings, programVersion),
  })
  try {
    const settings = context.storedSettingsOfAll()
    const fault = settings.faulty.get(name)
    if (fault !== undefined) throw new MusterError({ what: fault })
    const now = context.clock.now()
    const reader = await readerOf(connectionNamed(settings, name))
    if (!reader) return readingsOf({ readings: [], isReadable: true, readAt: now })
    try {
      return readingsOf({ readings: (await readFigures(reader, now)) ?? [], isReadable: true, readAt: now })
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const circumstances = { isVerbose: false, signal: context.signal, keyPlace: () => undefined }
    const { text } = describeFailure(error, circumstances)
    context.stderr.write(`warning: ${name}: ${text.replace(/^muster: /, '')}\n`)
    return readingsOf({ readings: [], isReadable: false, readAt: undefined }, error.exitCode === 75)
  }
}
