/** Runs the tasks of a DAG one after the other, because a warehouse file has only one writer. */
import type { ExitStatus } from '../../lib/errors.ts'
import type { Dag, DagTask } from './dag-file.ts'

export interface TaskOutcome {
  readonly task: string
  /** `later`: a budget or deadline was reached; the next run continues from there. */
  readonly state: 'done' | 'failed' | 'skipped' | 'later'
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly finishedAt: number
  /** Why it failed, was skipped or continues later. */
  readonly error?: string
  /** Exit code of a failed command; absent when it threw. */
  readonly exitCode?: number
}

interface TaskEnd {
  /** Its exit code. */
  readonly status: number
  readonly reason?: string
}

export interface DagEffects {
  /** Runs one command of the program. */
  runTask(task: DagTask): Promise<TaskEnd>
  now(): number
  /** Called and awaited after each task; records it in the ledger. */
  record?(outcome: TaskOutcome): void | Promise<void>
  /** Once aborted, tasks that have not begun are left for the next run. */
  readonly signal?: AbortSignal
}

const later = 75
const checkFailed = 3
const wrongSettings = 78

/**
 * A failed task skips only the tasks that need it. A task that ended with `later` skips none: everything it read is
 * loaded, and a first load that takes days should be published every day.
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

export function stateOfCode(exitCode: number): TaskOutcome['state'] {
  if (exitCode === 0) return 'done'
  return exitCode === later ? 'later' : 'failed'
}

/** Exit codes, worst first: wrong settings fail every run until fixed, a failed check needs a person, 75 only time. */
const codes = [wrongSettings, 1, checkFailed, later, 0] as const

/** The worst exit code of the tasks; a task that threw, or had wrong usage, counts as 1. */
export function dagExitCode(outcomes: readonly TaskOutcome[]): ExitStatus {
  const ended = new Set(outcomes.map(codeOf))
  return codes.find(code => ended.has(code)) ?? 0
}

export interface DagRunEnd {
  readonly state: 'done' | 'later' | 'failed'
  /** The tasks that were not done, with reasons; null if all were done. */
  readonly reason: string | null
}

export interface EndedTask extends Pick<TaskOutcome, 'task' | 'state'> {
  readonly error?: string | null
}

/** How the run ended. Failed tasks are named before skipped ones, which follow from them. */
export function dagRunEndOf(outcomes: readonly EndedTask[]): DagRunEnd {
  const states = ['failed', 'skipped', 'later'] as const
  const worst = states.find(state => outcomes.some(outcome => outcome.state === state))
  if (worst === undefined) return { state: 'done', reason: null }
  const worstTasks = outcomes.filter(({ state }) => state === worst)
  return {
    state: worst === 'later' ? 'later' : 'failed',
    reason: worstTasks.map(({ task, error }) => (error ? `${task}: ${error}` : task)).join('; '),
  }
}

function codeOf({ state, exitCode }: TaskOutcome): (typeof codes)[number] {
  if (state === 'failed') return codes.find(code => code === exitCode && code > 0) ?? 1
  return state === 'later' ? later : 0
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
    return { ...at, state: 'skipped', error: `needs ${blocking.task}, which ${pastTense[blocking.state]}` }
  return signal?.aborted ? { ...at, state: 'later', error: 'stopped before it began' } : undefined
}

const pastTense = {
  done: 'is done',
  failed: 'failed',
  skipped: 'was skipped',
  later: 'continues later',
} as const

async function attempt(task: DagTask, { runTask, now }: DagEffects): Promise<TaskOutcome> {
  const startedAt = now()
  const ended = (
    state: TaskOutcome['state'],
    why: Pick<TaskOutcome, 'error' | 'exitCode'> = {},
  ): TaskOutcome => ({
    task: task.id,
    state,
    startedAt,
    finishedAt: now(),
    ...why,
  })
  try {
    const { status, reason } = await runTask(task)
    const state = stateOfCode(status)
    if (state !== 'failed') return ended(state, reason && state === 'later' ? { error: reason } : {})
    const error = reason || `${task.run} ended with exit code ${status}`
    return ended('failed', { error, exitCode: status })
  } catch (error) {
    return ended('failed', { error: error instanceof Error ? error.message : String(error) })
  }
}
