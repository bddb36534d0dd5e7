/** `muster dag run NAME`: the tasks of a DAG, each as the command it names, in this process. */

import { type Dag, dagNamed, fromTask, onlyTask } from '../../app/dag/dag-file.ts'
import { type DagLedger, openDagLedger } from '../../app/dag/dag-ledger.ts'
import { dagExitCode, runDag, type TaskOutcome } from '../../app/dag/run-dag.ts'
import { tellNight } from '../../app/dag/tell-night.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { minuteMs } from '../../lib/dates.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { messageTask } from '../../state/runs/told.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [{ name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' }],
  options: [
    { flags: '--task <name>', summary: 'only this task; what it waits for counts as done' },
    { flags: '--from <name>', summary: 'this task and those that wait for it, as after a night that failed' },
  ],
  notes: ['Ends with the worst exit code of its tasks: 78, 1, 3, 75 or 0.'],
  takesAll: true,
  examples: [
    'muster dag run nightly',
    'muster dag run nightly --from build',
    'muster dag run nightly --connection acme --json',
  ],
  run: async (context, [name = ''], options) => {
    const { program, clock, signal, stderr } = context
    const dag = chosen(dagNamed(name, context.cwd, program.commandNames), options)
    const ledger = openDagLedger(context, dag.name)
    const outcomes = await runDag(dag, {
      runTask: async task => {
        context.notice(`${dag.name}: ${[task.run, ...task.args].join(' ')}`)
        return program.invoke([...task.run.split(' '), ...task.args], waitInDag(context))
      },
      now: () => clock.now(),
      record: outcome => ledger.record(outcome),
      signal,
    })
    const unrecorded = await ledger.finish(outcomes)
    if (unrecorded)
      stderr.write(`warning: how the tasks ended could not be recorded: ${unrecorded.message}\n`)
    // Whoever runs a single task sees how it ends.
    if (isWhole(options)) await tell(context, dag.name, { ledger, outcomes })
    print(context, dag.name, outcomes)
    return dagExitCode(outcomes)
  },
}

/** A night goes on after a command that somebody ran by hand; the settings may say how long it waits for one. */
const waitInDag = (context: CommandContext): { wait?: number } =>
  context.hasSettings() && storedOf(context)?.waitMinutes !== undefined ? {} : { wait: 10 * minuteMs }

const isWhole = (options: Options): boolean =>
  textOption(options, 'task') === undefined && textOption(options, 'from') === undefined

interface Ended {
  readonly ledger: DagLedger
  readonly outcomes: readonly TaskOutcome[]
}

async function tell(context: CommandContext, dag: string, { ledger, outcomes }: Ended): Promise<void> {
  const { clock, cwd, env, stderr } = context
  const startedAt = clock.now()
  const told = await tellNight(
    {
      connection: storedOf(context),
      cwd,
      env,
      hide: text => context.hidden(text),
      warn: line => void stderr.write(`warning: ${line}\n`),
    },
    dag,
    outcomes,
  )
  if (told) await ledger.record({ task: messageTask, ...told, startedAt, finishedAt: clock.now() })
}

/** Without settings that can be read nobody is known who could be told; the tasks have said what is wrong. */
function storedOf(context: CommandContext): StoredConnection | undefined {
  try {
    return context.stored()
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  }
}

function chosen(dag: Dag, options: Options): Dag {
  const [task, from] = [textOption(options, 'task'), textOption(options, 'from')]
  if (task !== undefined && from !== undefined)
    throw new UsageError({ what: '--task and --from exclude each other', next: 'give one of them' })
  if (task !== undefined) return onlyTask(dag, task)
  return from === undefined ? dag : fromTask(dag, from)
}

function print(context: CommandContext, dag: string, outcomes: readonly TaskOutcome[]): void {
  if (context.json) {
    printJson(context, { dag, tasks: outcomes.map(asJson) })
    return
  }
  printTable(
    context,
    ['task', 'state', 'seconds', { title: 'why', breaks: true }],
    outcomes.map(({ task, state, startedAt, finishedAt, error }) => {
      return [task, state, Math.round((finishedAt - startedAt) / 100) / 10, error]
    }),
  )
}

function asJson({ startedAt, finishedAt, ...rest }: TaskOutcome) {
  return {
    ...rest,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
  }
}
