/** What was spent of a key and what is left of it. */

/** Figures for people and for the ledger, in requests. */
export interface Usage {
  readonly perMinute: number
  readonly perDay: number
  /** Today on this key, by all programs, as far as known. */
  readonly usedToday: number
  readonly remainingToday: number
  /** Whether the service has said in this run what is left today: else the figure is a guess, and for no display. */
  readonly isTold: boolean
  /** Left for purpose `sync` now, after the reserves and the limit of the run. */
  readonly spendable: number
  /** The same without the limit of the run. */
  readonly spendableToday: number
  /** Left today for reads that events cause. */
  readonly leftForEvents: number
  /** Requests of today for events, where no other process uses the key. */
  readonly forEventsToday: number
  readonly requestsThisRun: number
  readonly retries: number
  /** ISO 8601, UTC. */
  readonly resetsAt: string
}
