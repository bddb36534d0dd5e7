/** `muster dag list`: the DAGs with their schedules and tasks. */

import { type DagTask, type DagText, dagFiles, nameOf, parseDag } from '../../app/dag/dag-file.ts'
import { type SyncGroups, syncGroups } from '../../app/dag/sync-groups.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { requireArguments } from '../dag/checked-dag.ts'
import { usualWaitMinutes } from '../dag/usual-wait.ts'
import { printJson, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  examples: ['muster dag list', 'muster dag list --json'],
  run: async context => {
    const connections = connectionsOf(context)
    const dags: (Summary & { connections: ListedConnection[] })[] = []
    for (const source of dagFiles(context.cwd))
      dags.push({ ...(await summarise(context, source)), connections })
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

/** What another scheduler needs to know of a connection; never an address. */
interface ListedConnection {
  readonly name: string
  /** Null where the settings are wrong. */
  readonly product: 'DuckDB' | 'PostgreSQL' | null
  /** How many processes may write its warehouse at a time; null: any number. */
  readonly writers: 1 | null
  /** For a warehouse that another process holds. */
  readonly waitMinutes: number
  /** Why each command of this connection would end with 78; the others are as they should be. */
  readonly problem?: string
}

/** Keys may be missing here: only the machines that run the tasks must have them. */
function connectionsOf(context: CommandContext): ListedConnection[] {
  if (!context.hasSettings()) return []
  if (context.globals.connection !== undefined) return [listedConnection(context.stored())]
  const { connections, faulty } = context.storedSettingsOfAll()
  // Says what is wrong with them.
  if (connections.size === 0) context.storedSettings()
  return context.connectionNames().map(name => {
    const connection = connections.get(name)
    if (connection) return listedConnection(connection)
    const problem = faulty.get(name) ?? 'its settings are wrong'
    return { name, product: null, writers: null, waitMinutes: usualWaitMinutes, problem }
  })
}

const listedConnection = ({ name, warehouse, waitMinutes }: StoredConnection): ListedConnection => ({
  name,
  ...(warehouse.kind === 'file'
    ? { product: 'DuckDB', writers: 1 }
    : { product: 'PostgreSQL', writers: null }),
  waitMinutes: waitMinutes ?? usualWaitMinutes,
})

/** A sync of everything can be run in parts. */
interface ListedTask extends DagTask {
  readonly groups?: SyncGroups
}

const listed = (task: DagTask): ListedTask => {
  const isOfAll = task.run === 'sync' && task.args.every(arg => arg.startsWith('-'))
  return isOfAll ? { ...task, groups: syncGroups } : task
}

interface Summary {
  readonly name: string
  readonly schedule?: string
  readonly tasks: readonly ListedTask[]
  readonly description?: string
  readonly problem?: string
}

async function summarise(context: CommandContext, source: DagText): Promise<Summary> {
  try {
    const dag = parseDag(source, context.program.commandNames)
    await requireArguments(context, dag, source.file)
    const { name, schedule, tasks, description } = dag
    return { name, schedule, tasks: tasks.map(listed), description }
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    return { name: nameOf(source), tasks: [], problem: error.message }
  }
}
