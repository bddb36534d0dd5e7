/** What is known of a run while it goes on; each event adds to it. */

type ResourceState = 'waiting' | 'walking' | 'loading' | 'done' | 'skipped' | 'failed'

/** Counts are totals so far, not steps; what an event leaves out stays as it was. */
export interface ProgressEvent {
  readonly resource: string
  readonly state: ResourceState
  readonly pagesDone?: number
  readonly pagesTotal?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  readonly note?: string
}

export interface BudgetEvent {
  readonly remainingToday: number
  readonly spentThisRun: number
}

export interface ProgressState {
  readonly startedMs: number
  /** In the order in which resources were first heard of. */
  readonly resources: ReadonlyMap<string, ProgressEvent>
  readonly budget?: BudgetEvent
}

export function withEvent(state: ProgressState, event: ProgressEvent): ProgressState {
  const merged = { ...state.resources.get(event.resource), ...event }
  return { ...state, resources: new Map(state.resources).set(event.resource, merged) }
}

/** Nothing more will be heard of it. */
export function isFinal({ state }: ProgressEvent): boolean {
  return state === 'done' || state === 'skipped' || state === 'failed'
}
