/** `muster dag record NAME`: a night that another scheduler ran task by task, for the ledger and for whoever is told of nights. */

import { resolve } from 'node:path'
import { openDagLedger } from '../../app/dag/dag-ledger.ts'
import { nightOf } from '../../app/dag/run-dag.ts'
import { toldOutcomes } from '../../app/dag/told-outcomes.ts'
import { UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { readStreamText } from '../../lib/read-stream.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { checkedDag } from '../dag/checked-dag.ts'
import { endNight } from '../dag/ended-dag.ts'
import { printJson, printLine } from '../terminal/output.ts'

const mostBytes = 1_048_576

export const command: CommandModule = {
  arguments: [
    { name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' },
    { name: '<file>', summary: 'JSON with the outcome of each task; - reads it from stdin' },
  ],
  notes: [
    'The JSON is what muster dag run --json prints; a task needs only its exit code. A task that is not named has not run.',
    'The least that it holds: {"tasks": [{"task": "sync", "exitCode": 0}, {"task": "build", "exitCode": 1}]}.',
    'The night counts as good when every task was done. It is told of like any other.',
  ],
  examples: ['muster dag record nightly outcomes.json', 'muster dag record nightly -'],
  run: async (context, [name = '', file = '']) => {
    const dag = await checkedDag(context, name)
    // Refused at once: nothing could be recorded.
    const connection = context.stored()
    const outcomes = toldOutcomes(dag, await textFrom(context, file), context.clock.now())
    const startedAt = Math.min(...outcomes.map(outcome => outcome.startedAt))
    const ledger = openDagLedger({ ...context, connection }, dag, { isWhole: true, startedAt })
    for (const outcome of outcomes) ledger.note(outcome)
    const error = await endNight(context, dag.name, { connection, ledger, outcomes })
    if (error) throw error
    const { state, reason } = nightOf(outcomes)
    if (context.json) printJson(context, { dag: dag.name, state, reason })
    else printLine(context, `${dag.name}: ${state}${reason === null ? '' : `, ${reason}`}`)
    return 0
  },
}

async function textFrom({ cwd, stdin, signal }: CommandContext, file: string): Promise<string> {
  if (file === '-') {
    if (!stdin) throw new UsageError({ what: 'there is no stdin to read the outcomes from' })
    return readStreamText(stdin(), { mostBytes, signal })
  }
  const read = readInputText(resolve(cwd, file), { mostBytes })
  if (typeof read === 'string') return read
  throw new UsageError({ what: `${file} ${read.why}` })
}
