/** Reads DAG files: which commands belong to a scheduled run, and which of them wait for others. */
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import * as z from 'zod'
import { largestYaml, parseYaml } from '../../config/yaml.ts'
import { nextDue } from '../../lib/cron.ts'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { packageFile } from '../../lib/package.ts'
import { choiceOf, didYouMean } from '../../lib/text/nearest.ts'

export interface DagTask {
  readonly id: string
  /** A command of the program; `args` holds its arguments. */
  readonly run: string
  readonly args: readonly string[]
  /** Tasks that must not fail before it. */
  readonly needs: readonly string[]
  /** Tasks that must have ended before it, however they ended. */
  readonly after: readonly string[]
  /** Two tasks that write do not run at the same time on one DuckDB file. */
  readonly writes: boolean
}

export interface Dag {
  readonly name: string
  readonly description: string
  /** Five cron fields, for the scheduler that calls `muster dag run`. */
  readonly schedule: string
  /** In the order of the file, except that each comes after the tasks it waits for. */
  readonly tasks: readonly DagTask[]
}

export interface DagText {
  readonly file: string
  readonly text: string
  /** Why the file could not be read. */
  readonly fault?: string
}

const cron = /^[\d*/,-]+( +[\d*/,A-Za-z-]+){4}$/

/** Whether the schedule is valid and comes due; the start time does not matter, since it comes due again. */
function comesDue(schedule: string): boolean {
  if (!cron.test(schedule)) return false
  try {
    return nextDue(schedule, 0) > 0
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

const task = z.strictObject({
  run: z.string(),
  args: z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String)).default([]),
  needs: z.array(z.string()).default([]),
  after: z.array(z.string()).default([]),
  writes: z.boolean().default(true),
})

const shape = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be lower case letters, digits and -'),
  description: z.string(),
  schedule: z.string().refine(comesDue, 'must be five cron fields, as in 30 2 * * *'),
  tasks: z
    .record(z.string(), task)
    .refine(tasks => Object.keys(tasks).length > 0, 'must name at least one task'),
})

/** Commands that start DAGs, and so could start the one they are in. */
const runsDags = new Set(['dag run', 'serve'])

/** Throws a ConfigError of one line. `commands` are the commands that a task may run. */
export function parseDag(source: DagText, commands: readonly string[]): Dag {
  const { name, description, schedule, tasks } = checkShape(source)
  const list = Object.entries(tasks).map(([id, rest]) => ({ id, ...rest }))
  for (const one of list) {
    const { id, run } = one
    if (!commands.includes(run)) {
      throw wrong(source, `task ${id} runs ${run}, which is not a command${didYouMean(run, commands)}`)
    }
    if (runsDags.has(run))
      throw wrong(source, `task ${id} runs ${run}, which a task cannot: it would never end`)
    const missing = waitsFor(one).find(other => !Object.hasOwn(tasks, other))
    if (missing !== undefined) {
      throw wrong(
        source,
        `task ${id} ${one.needs.includes(missing) ? 'needs' : 'comes after'} ${missing}, which is not a task${didYouMean(missing, Object.keys(tasks))}`,
      )
    }
  }
  return { name, description, schedule, tasks: inOrder(source, list) }
}

/** The DAG with only one task. Throws UsageError for an unknown task. */
export const onlyTask = (dag: Dag, id: string): Dag => part(dag, id, [id])

/** The DAG from a task on: that task and all that wait for it, directly or through others. */
export function fromTask(dag: Dag, id: string): Dag {
  const selectedIds = new Set([id])
  for (const one of dag.tasks)
    if (waitsFor(one).some(other => selectedIds.has(other))) selectedIds.add(one.id)
  return part(dag, id, [...selectedIds])
}

/** Keeps the selected tasks; tasks outside that they wait for count as done. */
function part(dag: Dag, id: string, selectedIds: readonly string[]): Dag {
  const ids = dag.tasks.map(one => one.id)
  if (!ids.includes(id))
    throw new UsageError({ what: `${dag.name} has no task ${id}`, next: choiceOf(id, ids) })
  const among = (others: readonly string[]): string[] => others.filter(other => selectedIds.includes(other))
  const tasks = dag.tasks
    .filter(one => selectedIds.includes(one.id))
    .map(one => ({ ...one, needs: among(one.needs), after: among(one.after) }))
  return { ...dag, tasks }
}

const waitsFor = ({ needs, after }: Pick<DagTask, 'needs' | 'after'>): readonly string[] => [
  ...needs,
  ...after,
]

function checkShape(source: DagText): z.infer<typeof shape> {
  if (source.fault !== undefined) throw wrong(source, source.fault)
  const read = parseYaml(source.text)
  if ('fault' in read) throw wrong(source, `${read.place}${read.fault}`)
  const result = shape.safeParse(read.tree)
  if (result.success) return result.data
  const problems = result.error.issues.map(issue => `${issue.path.join('.') || 'the file'}: ${issue.message}`)
  throw wrong(source, problems.join('; '))
}

function inOrder(source: DagText, tasks: readonly DagTask[]): readonly DagTask[] {
  const ordered: DagTask[] = []
  const placed = new Set<string>()
  while (ordered.length < tasks.length) {
    const next = tasks.find(one => !placed.has(one.id) && waitsFor(one).every(other => placed.has(other)))
    if (!next) throw wrong(source, `tasks wait for each other: ${cycleAmong(tasks, placed).join(' needs ')}`)
    ordered.push(next)
    placed.add(next.id)
  }
  return ordered
}

/** Every open task needs another open one, so following the needs leads back to a task already visited. */
function cycleAmong(tasks: readonly DagTask[], placed: ReadonlySet<string>): readonly string[] {
  const open = new Map(tasks.filter(({ id }) => !placed.has(id)).map(item => [item.id, item]))
  const path: string[] = []
  let id = [...open.keys()][0]
  while (id !== undefined && !path.includes(id)) {
    path.push(id)
    const task = open.get(id)
    id = task && waitsFor(task).find(other => open.has(other))
  }
  return id === undefined ? path : [...path.slice(path.indexOf(id)), id]
}

function wrong({ file }: DagText, what: string): ConfigError {
  return new ConfigError({ what: `${file}: ${what}` })
}

/** The DAGs that come with the program. */
const shipped = packageFile('dags')

/** The DAG files of `dags/` below the working folder; without any, those that come with the program. */
export function dagFiles(cwd: string): readonly DagText[] {
  const own = join(cwd, 'dags')
  const folder = namesIn(own).length > 0 ? own : shipped
  return namesIn(folder).map(name => {
    const file = join(folder, name)
    return { file: folder === own ? relative(cwd, file) : file, ...textOf(file) }
  })
}

/** A file that cannot be read fails only its own DAG. */
function textOf(file: string): Pick<DagText, 'text' | 'fault'> {
  const read = readInputText(file, { maxBytes: largestYaml })
  return typeof read === 'string' ? { text: read } : { text: '', fault: `it ${read.why}` }
}

/** The names of all DAGs. */
export function dagNames(cwd: string): readonly string[] {
  return dagFiles(cwd).map(nameOf)
}

/** The file of the DAG with this name, for messages. */
export const fileOfDag = (name: string, cwd: string): string =>
  dagFiles(cwd).find(source => nameOf(source) === name)?.file ?? name

/** A DAG is found by the name of its file. */
export function dagNamed(name: string, cwd: string, commands: readonly string[]): Dag {
  const files = new Map(dagFiles(cwd).map(source => [nameOf(source), source]))
  const source = files.get(name)
  if (!source) {
    throw new UsageError({ what: `there is no DAG named ${name}`, next: choiceOf(name, [...files.keys()]) })
  }
  const dag = parseDag(source, commands)
  if (dag.name === name) return dag
  throw new ConfigError({
    what: `${source.file}: name is ${dag.name}`,
    next: `it must be ${name}, like the file`,
  })
}

export function nameOf({ file }: DagText): string {
  return file.replace(/^.*[\\/]/, '').replace(/\.yaml$/, '')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter(name => name.endsWith('.yaml'))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
