/** `muster dag list`: lists the DAGs with their schedules and tasks. */

import { type DagTask, type DagText, dagFiles, nameOf, parseDag } from '../../app/dag/dag-file.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { catalogue } from '../../contract/catalogue.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { MusterError } from '../../lib/errors.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { defaultWaitMinutes, requireArguments } from '../dag-commands.ts'
import { printJson, printTable } from '../terminal/output.ts'

/** Parts of a sync that a scheduler can run as separate tasks, on a warehouse with several writers. */
interface SyncGroups {
  /** Each group is a task; they run in parallel. */
  readonly lists: readonly (readonly string[])[]
  /** One task, after the lists: they bring the ids and companies that it reads by. */
  readonly byId: readonly string[]
}

const namesOf = (resources: readonly Resource[]): string[] => resources.map(({ name }) => name)

const comesAfterLists = ({ read }: Resource): boolean =>
  read.strategy === 'byId' || (read.strategy === 'snapshot' && read.per !== 'key')

const syncGroups: SyncGroups = {
  lists: namesOf(catalogue.filter(one => !comesAfterLists(one))).map(name => [name]),
  byId: namesOf(catalogue.filter(comesAfterLists)),
}

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

/** What another scheduler needs to know about a connection; never an address. */
interface ListedConnection {
  readonly name: string
  /** Null where the settings are wrong. */
  readonly product: 'DuckDB' | 'PostgreSQL' | null
  /** How many processes may write its warehouse at a time; null: any number. */
  readonly writers: 1 | null
  /** How long to wait for a warehouse that another process has locked. */
  readonly waitMinutes: number
  /** Why each command of this connection would exit with 78; other connections are unaffected. */
  readonly problem?: string
}

/** API keys may be missing here: only the machines that run the tasks need them. */
function connectionsOf(context: CommandContext): ListedConnection[] {
  if (!context.hasSettings()) return []
  if (context.globals.connection !== undefined) return [listedConnection(context.stored())]
  const { connections, faulty } = context.storedSettingsOfAll()
  // Throws what is wrong with the settings.
  if (connections.size === 0) context.storedSettings()
  return context.connectionNames().map(name => {
    const connection = connections.get(name)
    if (connection) return listedConnection(connection)
    const problem = faulty.get(name) ?? 'its settings are wrong'
    return { name, product: null, writers: null, waitMinutes: defaultWaitMinutes, problem }
  })
}

const listedConnection = ({ name, warehouse, waitMinutes }: StoredConnection): ListedConnection => ({
  name,
  ...(warehouse.kind === 'file'
    ? { product: 'DuckDB', writers: 1 }
    : { product: 'PostgreSQL', writers: null }),
  waitMinutes: waitMinutes ?? defaultWaitMinutes,
})

/** A task; a sync of everything also lists the parts it can be run in. */
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
