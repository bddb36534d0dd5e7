/** How the tasks of a DAG ended where another scheduler ran them: the JSON that `dag run --json` prints, or less of it. */
import * as z from 'zod'
import { UsageError } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import type { Dag } from './dag-file.ts'
import { stateOfCode, type TaskOutcome } from './run-dag.ts'

const instant = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

const told = z.object({
  task: z.string(),
  state: z.enum(['done', 'failed', 'skipped', 'later']).optional(),
  exitCode: z.int().optional(),
  error: z.string().nullish(),
  startedAt: instant.optional(),
  finishedAt: instant.optional(),
})

const shape = z.object({ dag: z.string().optional(), tasks: z.array(told) })

/** An outcome for each task of the DAG, in its order. Throws UsageError for what cannot be meant. */
export function toldOutcomes(dag: Dag, text: string, now: number): readonly TaskOutcome[] {
  const { dag: name = dag.name, tasks } = parsed(text)
  if (name !== dag.name) throw new UsageError({ what: `these are outcomes of ${name}, not of ${dag.name}` })
  const ids = dag.tasks.map(({ id }) => id)
  const known = new Map<string, TaskOutcome>()
  for (const { task, state, exitCode, error, startedAt = now, finishedAt = now } of tasks) {
    if (!ids.includes(task))
      throw new UsageError({ what: `${dag.name} has no task ${task}${didYouMean(task, ids)}` })
    const meant = state ?? (exitCode === undefined ? undefined : stateOfCode(exitCode))
    if (!meant) throw new UsageError({ what: `task ${task} has neither state nor exitCode` })
    const why = error ?? (exitCode ? `it ended with exit code ${exitCode}` : undefined)
    const times = { startedAt, finishedAt }
    known.set(task, { task, state: meant, ...times, ...(why && meant !== 'done' && { error: why }) })
  }
  const outcomes = new Map<string, TaskOutcome>()
  for (const { id, needs } of dag.tasks)
    outcomes.set(id, known.get(id) ?? untold(id, { needs, outcomes, now }))
  return [...outcomes.values()]
}

interface Around {
  readonly needs: readonly string[]
  readonly outcomes: ReadonlyMap<string, TaskOutcome>
  readonly now: number
}

/** Nothing is told of a task that could not begin, and of one whose machine was lost. */
function untold(task: string, { needs, outcomes, now }: Around): TaskOutcome {
  const at = { task, startedAt: now, finishedAt: now }
  const blocking = needs.find(need => ['failed', 'skipped'].includes(outcomes.get(need)?.state ?? ''))
  return blocking === undefined
    ? { ...at, state: 'failed', error: 'it did not run to its end' }
    : { ...at, state: 'skipped', error: `needs ${blocking}, which was not done` }
}

function parsed(text: string): z.infer<typeof shape> {
  const wrong = (why: string): UsageError =>
    new UsageError({
      what: `these are no outcomes of tasks: ${why}`,
      next: 'give what dag run --json prints, as {"tasks": [{"task": "sync", "exitCode": 0}]}',
    })
  try {
    const result = shape.safeParse(JSON.parse(text))
    if (result.success) return result.data
    throw wrong(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is not JSON')
    throw error
  }
}
