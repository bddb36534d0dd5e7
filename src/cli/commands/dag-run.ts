/** `muster dag run NAME`: the tasks of a DAG, each as the command it names, in this process. */

import { dagNamed } from '../../app/dag/dag-file.ts'
import { openDagLedger } from '../../app/dag/dag-ledger.ts'
import { dagExitCode, runDag, type TaskOutcome } from '../../app/dag/run-dag.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  name: 'dag run',
  summary: 'run the tasks of a DAG in order; a failed task skips only the tasks that need it',
  arguments: [{ name: '<name>', summary: 'name of a file in dags/, without .yaml' }],
  examples: ['muster dag run nightly', 'muster dag run nightly --connection acme --json'],
  run: async (context, [name = '']) => {
    const { program, clock, signal, stderr } = context
    const dag = dagNamed(name, context.cwd, program.commandNames)
    const ledger = openDagLedger(context, dag.name)
    const outcomes = await runDag(dag, {
      runTask: async task => {
        context.notice(`${dag.name}: ${[task.run, ...task.args].join(' ')}`)
        return program.invoke([...task.run.split(' '), ...task.args])
      },
      now: () => clock.now(),
      record: outcome => ledger.record(outcome),
      signal,
    })
    const unrecorded = await ledger.finish()
    if (unrecorded)
      stderr.write(`warning: how the tasks ended could not be recorded: ${unrecorded.message}\n`)
    print(context, dag.name, outcomes)
    return dagExitCode(outcomes)
  },
}

function print(context: CommandContext, dag: string, outcomes: readonly TaskOutcome[]): void {
  if (context.json) {
    printJson(context, { dag, tasks: outcomes.map(asJson) })
    return
  }
  printTable(
    context,
    ['task', 'state', 'seconds', 'why'],
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
