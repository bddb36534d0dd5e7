/** Counts deliveries since the start, and sums up new refusals for the log. */

/** Fixed words, so that no text from a sender gets into the log. */
export type RefusalReason = 'headers' | 'timestamp' | 'signature' | 'body' | 'request' | 'full'

export interface DeliveryCounts {
  /** Answered 202, including repetitions. */
  readonly taken: number
  /** Answered 503. */
  readonly failed: number
  readonly refused: Readonly<Record<string, number>>
  /** ISO 8601; null before the first. */
  readonly lastTakenAt: string | null
}

export interface DeliveryCounters {
  taken(at: string): void
  refused(reason: RefusalReason, why: string): void
  failed(error: unknown): void
  counts(): DeliveryCounts
  /** Whether the latest verified event could be stored. */
  isStoring(): boolean
  /** Refusals since the last call, counted by reason, and why storing failed. */
  news(): { readonly refused: ReadonlyMap<string, number>; readonly failure: string | undefined }
}

export function createCounters(): DeliveryCounters {
  const refused: Record<RefusalReason, number> = {
    headers: 0,
    timestamp: 0,
    signature: 0,
    body: 0,
    request: 0,
    full: 0,
  }
  let taken = 0
  let failed = 0
  let lastTakenAt: string | null = null
  let isStoring = true
  let fresh = new Map<string, number>()
  let failure: string | undefined
  return {
    taken(at) {
      taken += 1
      lastTakenAt = at
      isStoring = true
    },
    refused(reason, why) {
      refused[reason] += 1
      fresh.set(why, (fresh.get(why) ?? 0) + 1)
      if (reason === 'full') isStoring = false
    },
    failed(error) {
      failed += 1
      isStoring = false
      failure = error instanceof Error ? error.message : String(error)
    },
    counts: () => ({ taken, failed, refused: { ...refused }, lastTakenAt }),
    isStoring: () => isStoring,
    news() {
      const latest = { refused: fresh, failure }
      fresh = new Map()
      failure = undefined
      return latest
    },
  }
}
