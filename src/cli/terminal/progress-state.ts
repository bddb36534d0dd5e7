/** What is known of a run under way, gathered from its events. */
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
  readonly note?: string
  /** The summary counts it: worth no line of its own. */
  readonly isMinor?: boolean
}

export interface BudgetEvent {
  /** Undefined where the service has not told it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
  /** Requests a minute that the key allows; undefined before the service has told it. */
  readonly perMinute?: number
}

export interface ProgressState {
  readonly startedMs: number
  /** In the order of their first events. */
  readonly resources: ReadonlyMap<string, ProgressEvent>
  readonly budget?: BudgetEvent
}

/** Nothing is known yet. */
export const atStart = (startedMs: number): ProgressState => ({ startedMs, resources: new Map() })

export function withEvent(state: ProgressState, event: ProgressEvent): ProgressState {
  const merged = { ...state.resources.get(event.resource), ...event }
  return { ...state, resources: new Map(state.resources).set(event.resource, merged) }
}

/** Whether no further event follows. */
export function isFinal({ state }: ProgressEvent): boolean {
  return ['done', 'skipped', 'incomplete', 'failed'].includes(state)
}
