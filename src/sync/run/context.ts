/** The parts that every stage of a sync works with, built once for each run. */
import type { Client } from '../../api/client/client.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Landing } from '../../landing/folder.ts'
import type { ServiceClock } from '../../lib/time/service-clock.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { StagePlan } from '../../load/read/plan.ts'
import type { FetchedPages } from '../../state/by-id/fetched-pages.ts'
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
  /** As many as there can be, where what is read names more to read. */
  readonly pagesMost?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  readonly note?: string
}

/** Requests, records and rows of a resource so far. They grow after commits only, so they never include rows that are not there. */
export interface Counters extends Mutable<RunFigures> {
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
  /** Of a record; the usual ones when left out. */
  readonly recordLimits?: RecordLimits | undefined
  readonly key: KeyInfo
  readonly apiKeyId: string
  readonly signal: AbortSignal
  /** How many rows a snapshot may remove at once, when an operator knows that they are deleted. */
  readonly most?: number
  /** What the key may no longer read is skipped from now on. */
  readonly acceptsRefused?: boolean
  readonly emit: (event: ResourceEvent) => void
  /** Requests by the second they were sent in, to be written with the next commit. */
  readonly sent: Map<number, number>
  /** Requests for events, to be written with the next commit. */
  readonly events: EventCount
  /** The pages that this run loads: its own, and those of runs that stopped before they had loaded them. */
  readonly loaded: FetchedPages
}

/** One resource within a run. */
export interface ResourceTask {
  readonly sync: SyncContext
  readonly resource: Resource
  readonly plan: StagePlan
  readonly lease: Lease
  readonly counters: Counters
  readonly pipeline: TaskPipeline
}

export const now = (sync: Pick<SyncContext, 'clock'>): string => new Date(sync.clock.now()).toISOString()

/** By the clock of the service, ISO 8601; null where its answers do not say it. */
export function serviceTime({ clock }: Pick<SyncContext, 'clock'>): string | null {
  const at = clock.service()
  return at === undefined ? null : new Date(at).toISOString()
}

/** Longer than any batch takes to load, short enough that a stopped process does not hold up the next night. */
export const usualLeaseMs = 15 * 60_000
