/** What a run is told: where to read from and write to, and how far it may go. */
import type { FetchOptions } from '../../api/client/wire.ts'
import type { LandingKeys } from '../../landing/encryption.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { Tolerance } from '../../state/runs/runs.ts'

/** Where to read from and write to; secrets already revealed. */
export interface RunConnection {
  readonly baseUrl: string
  readonly apiKey: string
  readonly landing: string
  /** Of landed pages that are encrypted. */
  readonly landingKeys?: LandingKeys | undefined
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
