/** What a run is told: where to read from and write to, and how far it may go. */
import type { FetchOptions } from '../../api/client/wire.ts'
import type { LandingPlace } from '../../landing/bucket/place.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rng } from '../../lib/rng.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { Tolerance } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { SweepOptions } from '../deletions/sweep.ts'
import type { ResourceEvent } from './context.ts'
import type { SyncRequest } from './sync.ts'

/** Where to read from and write to; secrets already revealed. */
export interface RunConnection {
  readonly baseUrl: string
  readonly apiKey: string
  /** Without them requests are sent directly. */
  readonly proxies?: ProxyVariables
  /** A text is a folder. */
  readonly landing: string | LandingPlace
  readonly retentionDays: number
  readonly lookbackMinutes: number
  readonly pageCapBytes: number
  readonly reserveBytes?: number
  /** What may be in quarantine; the defaults of the settings when left out. */
  readonly tolerance?: Tolerance
  /** How large a record may be; the usual limits when left out. */
  readonly limits?: RecordLimits
  /** Milliseconds; those of the client when left out. */
  readonly timeouts?: Pick<FetchOptions, 'headersTimeout' | 'bodyTimeout' | 'totalTimeout'>
}

export interface RunLimits {
  readonly maxRequests?: number
  /** Milliseconds since the epoch. */
  readonly deadline?: number
  /** Milliseconds for which a service that accepts no connection is tried. */
  readonly patienceMs?: number
}

/** Requests, for whoever watches a run. */
export interface BudgetFigures {
  /** Undefined where the service has not told it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
  /** Undefined until the service has told it. */
  readonly perMinute?: number
}

export interface RunRequest extends SyncRequest {
  /** Looks for what is gone instead of reading what changed. */
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
  /** How long a lease holds after its last renewal; as long as usual when absent. */
  readonly leaseMs?: number
  readonly emit: (event: ResourceEvent) => void
  /** After each request. */
  readonly onBudget: (budget: BudgetFigures) => void
  /** Told once when the service accepts no connection and is still tried. */
  readonly onUnreached?: (sentence: string) => void
}
