/** Runs the tasks of a DAG one after the other, because one warehouse file has one writer. */

import type { Dag, DagTask } from './dag-file.ts'
import type { ExitStatus } from './exit-status.ts'

export interface TaskOutcome {
  readonly task: string
  /** `later`: a budget or deadline was reached, the next run goes on from there. */
  readonly state: 'done' | 'failed' | 'skipped' | 'later'
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly finishedAt: number
  /** Why it failed or was skipped. */
  readonly error?: string
}

export interface DagEffects {
  /** Runs one command of the program and returns its exit code. */
  runTask(task: DagTask): Promise<number>
  now(): number
  /** Called after each task, and awaited: the ledger keeps it. */
  record?(outcome: TaskOutcome): void | Promise<void>
  /** Once aborted, tasks not yet begun are left for the next run. */
  readonly signal?: AbortSignal
}

const LATER = 75

/**
 * A failed task takes only those down that need it. One that ended with `later` takes none down: all it read is
 * loaded, and a first load that spends its budget for days should be published every day.
 */
export async function runDag(dag: Dag, effects: DagEffects): Promise<readonly TaskOutcome[]> {
  const outcomes = new Map<string, TaskOutcome>()
  for (const task of dag.tasks) {
    const outcome = reasonToSkip(task, outcomes, effects) ?? (await attempt(task, effects))
    outcomes.set(task.id, outcome)
    await effects.record?.(outcome)
  }
  return [...outcomes.values()]
}

export function dagExitCode(outcomes: readonly TaskOutcome[]): ExitStatus {
  if (outcomes.some(outcome => outcome.state === 'failed')) return 1
  return outcomes.some(outcome => outcome.state === 'later') ? LATER : 0
}

function reasonToSkip(
  task: DagTask,
  outcomes: ReadonlyMap<string, TaskOutcome>,
  { now, signal }: DagEffects,
): TaskOutcome | undefined {
  const blocking = task.needs
    .map(need => outcomes.get(need))
    .find(outcome => outcome?.state === 'failed' || outcome?.state === 'skipped')
  const at = { task: task.id, startedAt: now(), finishedAt: now() }
  if (blocking)
    return { ...at, state: 'skipped', error: `needs ${blocking.task}, which ${PAST[blocking.state]}` }
  return signal?.aborted ? { ...at, state: 'later', error: 'stopped before it began' } : undefined
}

const PAST = { done: 'is done', failed: 'failed', skipped: 'was skipped', later: 'goes on later' } as const

async function attempt(task: DagTask, { runTask, now }: DagEffects): Promise<TaskOutcome> {
  const startedAt = now()
  const ended = (state: TaskOutcome['state'], error?: string): TaskOutcome => ({
    task: task.id,
    state,
    startedAt,
    finishedAt: now(),
    ...(error !== undefined && { error }),
  })
  try {
    const code = await runTask(task)
    if (code === 0) return ended('done')
    return code === LATER ? ended('later') : ended('failed', `${task.run} ended with exit code ${code}`)
  } catch (error) {
    return ended('failed', error instanceof Error ? error.message : String(error))
  }
}
