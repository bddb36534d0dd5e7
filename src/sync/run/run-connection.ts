/** Declares the input of a run: where to read from and write to, and its limits. */
import type { FetchOptions } from '../../api/client/wire.ts'
import type { LandingPlace } from '../../landing/store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rng } from '../../lib/rng.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { FieldSettings } from '../../privacy/fields/policy.ts'
import type { Tolerance } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { SweepOptions } from '../deletions/sweep.ts'
import type { ResourceEvent } from './context.ts'
import type { SyncRequest } from './sync.ts'

/** Where to read from and write to, with secrets in plain text. */
export interface RunConnection {
  readonly baseUrl: string
  readonly apiKey: string
  /** Without them, requests are sent directly. */
  readonly proxies?: ProxyVariables
  /** A string names a folder. */
  readonly landing: string | LandingPlace
  readonly retentionDays: number
  readonly lookbackMinutes: number
  readonly pageCapBytes: number
  readonly reserveBytes?: number
  /** How much may be in quarantine, and which resources are frozen; defaults if absent. */
  readonly tolerance?: Tolerance
  /** Which fields are blocked or hashed; none if absent. */
  readonly fields?: FieldSettings
  /** Size limits of a record; defaults if absent. */
  readonly limits?: RecordLimits
  /** In milliseconds; the client's defaults if absent. */
  readonly timeouts?: Pick<FetchOptions, 'headersTimeout' | 'bodyTimeout' | 'totalTimeout'>
}

export interface RunLimits {
  readonly maxRequests?: number
  /** Milliseconds since the epoch. */
  readonly deadline?: number
  /** How long to keep trying a service that accepts no connection, in milliseconds. */
  readonly patienceMs?: number
}

/** Request counts, to show while a run is under way. */
export interface BudgetFigures {
  /** Undefined until the service has reported it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
  /** Undefined until the service has reported it. */
  readonly perMinute?: number
}

export interface RunRequest extends SyncRequest {
  /** Looks for deleted records instead of reading changes. */
  readonly sweep?: SweepOptions
  readonly command: string
  readonly arguments: string
  readonly limits: RunLimits
}

export interface RunEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  readonly version: string
  /** How long a lease is valid after its last renewal; default if absent. */
  readonly leaseMs?: number
  readonly emit: (event: ResourceEvent) => void
  /** Called after each request. */
  readonly onBudget: (budget: BudgetFigures) => void
  /** Called once when the service accepts no connection and the run keeps trying. */
  readonly onUnreached?: (sentence: string) => void
}
