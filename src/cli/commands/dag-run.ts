/** `muster dag run NAME`: runs the tasks of a DAG in this process, each as the command that it names. */
import { requireBucket } from '../../app/connection/storage.ts'
import { type Dag, fromTask, onlyTask } from '../../app/dag/dag-file.ts'
import { openDagLedger } from '../../app/dag/dag-ledger.ts'
import { dagExitCode, runDag } from '../../app/dag/run-dag.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { minuteMs } from '../../lib/dates.ts'
import { UsageError } from '../../lib/errors.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import { checkedDag, connectionOfDag, defaultWaitMinutes, endDagRun, printOutcomes } from '../dag-commands.ts'

export const command: CommandModule = {
  arguments: [{ name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' }],
  options: [
    { flags: '--task <name>', summary: 'only this task; the tasks it needs count as done' },
    { flags: '--from <name>', summary: 'this task and those that need it, as after a failed run' },
  ],
  notes: [
    'Exits with the worst exit code of its tasks: 78, 1, 3, 75 or 0.',
    'Part of a DAG counts as a successful run only if it completes the previous one: all other tasks were done less than a day ago.',
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
    const connection = connectionOfDag(context)
    // Reported once here: every task would fail with the same error.
    if (connection) await requireBucket(connection, signal)
    const part = partOf(dag, options)
    const ran = { isComplete: part.tasks.length === dag.tasks.length }
    const ledger = openDagLedger({ ...context, connection }, dag, ran)
    const outcomes = await runDag(part, {
      runTask: async task => {
        context.notice(`${dag.name}: ${[task.run, ...task.args].join(' ')}`)
        return program.invoke([...task.run.split(' '), ...task.args], waitInDag(connection), {
          env: context.env,
          isTask: true,
        })
      },
      now: () => clock.now(),
      record: outcome => ledger.record(outcome),
      signal,
    })
    await endDagRun(context, dag.name, { connection, ledger, outcomes })
    printOutcomes(context, dag.name, outcomes)
    return dagExitCode(outcomes)
  },
}

const waitInDag = (connection: StoredConnection | undefined): { wait?: number } =>
  connection?.waitMinutes !== undefined ? {} : { wait: defaultWaitMinutes * minuteMs }

/** The part of the DAG that the options select, or all of it. */
function partOf(dag: Dag, options: Options): Dag {
  const [task, from] = [textOption(options, 'task'), textOption(options, 'from')]
  if (task !== undefined && from !== undefined)
    throw new UsageError({ what: '--task and --from exclude each other', next: 'give one of them' })
  if (task !== undefined) return onlyTask(dag, task)
  return from === undefined ? dag : fromTask(dag, from)
}
