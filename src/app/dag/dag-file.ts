/** A DAG file: which commands belong to one scheduled run, and which must wait for which. */
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { didYouMean } from '../../config/nearest.ts'
import { ConfigError } from '../../lib/errors.ts'

export interface DagTask {
  readonly id: string
  /** A command of the program, and its arguments. */
  readonly run: string
  readonly args: readonly string[]
  readonly needs: readonly string[]
}

export interface Dag {
  readonly name: string
  readonly description: string
  /** Five cron fields, for the scheduler that calls `muster dag run`. */
  readonly schedule: string
  /** In an order that keeps every need; ties as in the file. */
  readonly tasks: readonly DagTask[]
}

export interface DagText {
  readonly file: string
  readonly text: string
}

const CRON = /^[\d*/,-]+( +[\d*/,A-Za-z-]+){4}$/

const task = z.strictObject({
  run: z.string(),
  args: z.array(z.coerce.string()).default([]),
  needs: z.array(z.string()).default([]),
})

const shape = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be lower case letters, digits and -'),
  description: z.string(),
  schedule: z.string().regex(CRON, 'must be five cron fields, as in 30 2 * * *'),
  tasks: z.record(z.string(), task).refine(tasks => Object.keys(tasks).length > 0, 'has none'),
})

/** Throws ConfigError of one line. `commands` are the names that `run` may hold. */
export function parseDag(source: DagText, commands: readonly string[]): Dag {
  const { name, description, schedule, tasks } = checkShape(source)
  const list = Object.entries(tasks).map(([id, rest]) => ({ id, ...rest }))
  for (const { id, run, needs } of list) {
    if (!commands.includes(run)) {
      throw wrong(source, `task ${id} runs ${run}, which is no command${didYouMean(run, commands)}`)
    }
    const missing = needs.find(need => !Object.hasOwn(tasks, need))
    if (missing !== undefined) {
      throw wrong(
        source,
        `task ${id} needs ${missing}, which is no task${didYouMean(missing, Object.keys(tasks))}`,
      )
    }
  }
  return { name, description, schedule, tasks: inOrder(source, list) }
}

function checkShape(source: DagText): z.infer<typeof shape> {
  const lines = new LineCounter()
  const document = parseDocument(source.text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) {
    const { line, col } = lines.linePos(error.pos[0])
    throw wrong(source, `${line}:${col} ${error.message}`)
  }
  const result = shape.safeParse(document.toJS())
  if (result.success) return result.data
  const problems = result.error.issues.map(issue => `${issue.path.join('.') || 'the file'}: ${issue.message}`)
  throw wrong(source, problems.join('; '))
}

function inOrder(source: DagText, tasks: readonly DagTask[]): readonly DagTask[] {
  const ordered: DagTask[] = []
  const placed = new Set<string>()
  while (ordered.length < tasks.length) {
    const next = tasks.find(({ id, needs }) => !placed.has(id) && needs.every(need => placed.has(need)))
    if (!next) throw wrong(source, `tasks wait for each other: ${cycleAmong(tasks, placed).join(' needs ')}`)
    ordered.push(next)
    placed.add(next.id)
  }
  return ordered
}

/** Every task left over needs another one left over, so following needs must come back to a task already met. */
function cycleAmong(tasks: readonly DagTask[], placed: ReadonlySet<string>): readonly string[] {
  const open = new Map(tasks.filter(({ id }) => !placed.has(id)).map(item => [item.id, item]))
  const path: string[] = []
  let id = [...open.keys()][0]
  while (id !== undefined && !path.includes(id)) {
    path.push(id)
    id = open.get(id)?.needs.find(need => open.has(need))
  }
  return id === undefined ? path : [...path.slice(path.indexOf(id)), id]
}

function wrong({ file }: DagText, what: string): ConfigError {
  return new ConfigError({ what: `${file}: ${what}` })
}
