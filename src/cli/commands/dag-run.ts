/** `muster dag run NAME`: the tasks of a DAG, each as the command it names, in this process. */

import { requireBucket } from '../../app/connection/landing-keys.ts'
import { type Dag, fromTask, onlyTask } from '../../app/dag/dag-file.ts'
import { openDagLedger } from '../../app/dag/dag-ledger.ts'
import { dagExitCode, runDag } from '../../app/dag/run-dag.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { minuteMs } from '../../lib/dates.ts'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { checkedDag } from '../dag/checked-dag.ts'
import { endNight, printOutcomes, storedOf } from '../dag/ended-dag.ts'
import { usualWaitMinutes } from '../dag/usual-wait.ts'

export const command: CommandModule = {
  arguments: [{ name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' }],
  options: [
    { flags: '--task <name>', summary: 'only this task; what it waits for counts as done' },
    { flags: '--from <name>', summary: 'this task and those that wait for it, as after a night that failed' },
  ],
  notes: [
    'Ends with the worst exit code of its tasks: 78, 1, 3, 75 or 0.',
    'A part counts as a good night only where it makes the last one whole: all other tasks were done, less than a day ago.',
  ],
  takesAll: true,
  lineage: 'none',
  examples: [
    'muster dag run nightly',
    'muster dag run nightly --from build',
    'muster dag run nightly --connection acme --json',
  ],
  run: async (context, [name = ''], options) => {
    const { program, clock, signal } = context
    const dag = await checkedDag(context, name)
    await requireUsableSettings(context)
    const part = partOf(dag, options)
    const ledger = openDagLedger(context, dag, { isWhole: part.tasks.length === dag.tasks.length })
    const outcomes = await runDag(part, {
      runTask: async task => {
        context.notice(`${dag.name}: ${[task.run, ...task.args].join(' ')}`)
        return program.invoke([...task.run.split(' '), ...task.args], waitInDag(context), context.env)
      },
      now: () => clock.now(),
      record: outcome => ledger.record(outcome),
      signal,
    })
    await endNight(context, dag.name, { ledger, outcomes })
    printOutcomes(context, dag.name, outcomes)
    return dagExitCode(outcomes)
  },
}

/** Of settings that cannot be read, each task says its own where none of them names a connection. */
function storedWhereNamed(context: CommandContext): StoredConnection | undefined {
  try {
    return context.stored()
  } catch (error) {
    if (error instanceof ConfigError) throw error
    return undefined
  }
}

/** Every task would say the same of wrong settings, and of a bucket that cannot be used. */
async function requireUsableSettings(context: CommandContext): Promise<void> {
  const stored = context.hasSettings() ? storedWhereNamed(context) : undefined
  if (stored) await requireBucket(stored, context.signal)
}

const waitInDag = (context: CommandContext): { wait?: number } =>
  context.hasSettings() && storedOf(context)?.waitMinutes !== undefined
    ? {}
    : { wait: usualWaitMinutes * minuteMs }

/** The part of the DAG that the options name, or all of it. */
function partOf(dag: Dag, options: Options): Dag {
  const [task, from] = [textOption(options, 'task'), textOption(options, 'from')]
  if (task !== undefined && from !== undefined)
    throw new UsageError({ what: '--task and --from exclude each other', next: 'give one of them' })
  if (task !== undefined) return onlyTask(dag, task)
  return from === undefined ? dag : fromTask(dag, from)
}
