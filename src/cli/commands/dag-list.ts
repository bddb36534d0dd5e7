/** `muster dag list`: the DAGs with their schedules and tasks. */

import { type DagTask, type DagText, dagFiles, nameOf, parseDag } from '../../app/dag/dag-file.ts'
import { MusterError } from '../../lib/errors.ts'
import type { CommandModule } from '../command.ts'
import { printJson, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  examples: ['muster dag list', 'muster dag list --json'],
  run: async context => {
    const dags = dagFiles(context.cwd).map(source => summarise(source, context.program.commandNames))
    if (context.json) {
      printJson(context, dags)
    } else {
      printTable(
        context,
        ['name', 'schedule', 'tasks', 'description'],
        dags.map(dag => [
          dag.name,
          dag.schedule,
          dag.tasks.map(({ id }) => id).join(', '),
          dag.problem ?? dag.description,
        ]),
      )
    }
    return dags.some(dag => dag.problem !== undefined) ? 78 : 0
  },
}

interface Summary {
  readonly name: string
  readonly schedule?: string
  readonly tasks: readonly DagTask[]
  readonly description?: string
  readonly problem?: string
}

function summarise(source: DagText, commands: readonly string[]): Summary {
  try {
    const { name, schedule, tasks, description } = parseDag(source, commands)
    return { name, schedule, tasks, description }
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    return { name: nameOf(source), tasks: [], problem: error.message }
  }
}
