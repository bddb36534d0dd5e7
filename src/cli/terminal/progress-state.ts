/** What is known of a run under way, gathered from its events. */
import { noWork, type Told, type Work, withEnded } from './work.ts'

type ResourceState = 'waiting' | 'scanning' | 'loading' | 'done' | 'skipped' | 'incomplete' | 'failed'

/** Counts are totals so far, not steps; a field that an event leaves out keeps its value. */
export interface ProgressEvent {
  readonly resource: string
  readonly state: ResourceState
  readonly pagesDone?: number
  readonly pagesTotal?: number
  /** As many as there can be, where what is read names more to read; else `pagesTotal`. */
  readonly pagesMost?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  /** Batches that are loaded, and as many as there will be as far as known. */
  readonly loadsDone?: number
  readonly loadsTotal?: number
  readonly note?: string
  /** The summary counts it: worth no line of its own. */
  readonly isMinor?: boolean
}

export interface BudgetEvent {
  /** Undefined where the service has not told it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
  /** Of these, requests that are not answered. */
  readonly underWay?: number
  /** Requests a minute that the key allows; undefined before the service has told it. */
  readonly perMinute?: number
  /** Milliseconds that requests have waited for the limit; time in which several wait counts once. */
  readonly waitedMs?: number
  /** Whether one waits now, perhaps for no time. */
  readonly isWaiting?: boolean
  /** The next request is sent no earlier than this moment. */
  readonly freeAt?: number
}

export interface ProgressState {
  readonly startedMs: number
  /** In the order of their first events. */
  readonly resources: ReadonlyMap<string, ProgressEvent>
  readonly budget?: BudgetEvent
  /** When each request was sent. */
  readonly sentMs: readonly number[]
  readonly told?: Told
  readonly work: Work
}

export function withEvent(state: ProgressState, event: ProgressEvent, nowMs: number): ProgressState {
  const before = state.resources.get(event.resource)
  const merged = { ...before, ...event }
  const loads = (merged.loadsDone ?? 0) - (before?.loadsDone ?? 0)
  const ended = { kind: 'loads', count: loads } as const
  return {
    ...state,
    resources: new Map(state.resources).set(event.resource, merged),
    work: loads > 0 ? withEnded(state.work, ended, { told: state.told, nowMs }) : state.work,
  }
}

/** Nothing is known yet. */
export const atStart = (startedMs: number): ProgressState => ({
  startedMs,
  resources: new Map(),
  sentMs: [],
  work: noWork,
})

/** Requests were sent since, or one begins to wait. */
export function withBudget(state: ProgressState, budget: BudgetEvent, nowMs: number): ProgressState {
  const { waitedMs = 0, isWaiting = false, freeAt = 0 } = budget
  const told = { waitedMs, isWaiting, freeAt, atMs: nowMs }
  const count = Math.max(0, budget.spentThisRun - state.sentMs.length)
  const sentMs = [...state.sentMs, ...Array.from({ length: count }, () => nowMs)]
  const work = count > 0 ? withEnded(state.work, { kind: 'requests', count }, { told, nowMs }) : state.work
  return { ...state, budget, told, sentMs, work }
}

/** Whether no further event follows. */
export function isFinal({ state }: ProgressEvent): boolean {
  return ['done', 'skipped', 'incomplete', 'failed'].includes(state)
}
