/** Declares what every stage of a sync works with; built once for each run. */
import type { Client } from '../../api/client/client.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Landing } from '../../landing/landing.ts'
import type { ServiceClock } from '../../lib/service-clock.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { StagePlan } from '../../load/read/plan.ts'
import type { FetchedPages } from '../../state/by-id/discovered.ts'
import type { Lease } from '../../state/runs/leases.ts'
import type { RunFigures } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { EventCount } from './event-count.ts'
import type { TaskPipeline } from './task-pipeline.ts'

export interface ResourceEvent {
  readonly resource: string
  readonly state: 'waiting' | 'scanning' | 'loading' | 'done' | 'skipped' | 'incomplete' | 'failed'
  readonly pagesDone?: number
  readonly pagesTotal?: number
  /** The maximum, when records may refer to more records to read. */
  readonly pagesMost?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  readonly note?: string
}

/**
 * A resource's requests, records and rows so far. They grow only after commits, so they never include uncommitted rows.
 */
export interface ResourceCounters extends Mutable<RunFigures> {
  note: string | null
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

export interface SyncContext {
  readonly engine: Engine
  readonly client: Client
  readonly landing: Landing
  readonly clock: ServiceClock
  readonly runId: string
  readonly lookbackMs: number
  readonly leaseMs: number
  /** Limits of a record; defaults if absent. */
  readonly recordLimits?: RecordLimits | undefined
  readonly key: KeyInfo
  readonly apiKeyId: string
  readonly signal: AbortSignal
  /** How many rows a snapshot may remove at once, when the operator knows that they are deleted. */
  readonly maxDeletions?: number
  /** How many rows of a list the service counts but shows on no page, when the operator knows that it hides them. */
  readonly hidden?: number
  /** Skips resources that the key may no longer read, from now on. */
  readonly acceptsRefused?: boolean
  readonly emit: (event: ResourceEvent) => void
  /** Requests by the second in which they were sent, to be written with the next commit. */
  readonly sent: Map<number, number>
  /** Requests for events, to be written with the next commit. */
  readonly events: EventCount
  /** Pages that this run loads: its own, and those of runs that stopped before loading them. */
  readonly loaded: FetchedPages
}

/** One resource within a run. */
export interface ResourceTask {
  readonly sync: SyncContext
  readonly resource: Resource
  readonly plan: StagePlan
  readonly lease: Lease
  readonly counters: ResourceCounters
  readonly pipeline: TaskPipeline
}

export const now = (sync: Pick<SyncContext, 'clock'>): string => new Date(sync.clock.now()).toISOString()

/** ISO 8601 time by the service's clock; null if its responses do not give it. */
export function serviceTime({ clock }: Pick<SyncContext, 'clock'>): string | null {
  const at = clock.service()
  return at === undefined ? null : new Date(at).toISOString()
}

/** Longer than any batch takes to load, and short enough that a stopped process does not block the next run. */
export const defaultLeaseMs = 15 * 60_000
