/** How often a record changes, from what its fetches found and from what is known of its kind. */

/** Of one record: changes found, and the days in which they would have been. */
export interface Evidence {
  readonly changes: number
  readonly exposure: number
}

/** Sums over the records of one kind, such as ended assignments. */
export interface KindSums extends Evidence {
  readonly records: number
  readonly exposureSquared: number
  readonly changesByExposure: number
  readonly changesSquared: number
}

/** A gamma distribution of rates: so many changes in so many days are known before a record is looked at. */
export interface Prior {
  readonly changes: number
  readonly days: number
}

/** Of a kind of which nothing is known: one change in a month, on the strength of one record. */
const unknown: Prior = { changes: 0.5, days: 15 }

/** Records of one kind are never so alike, nor so different, that one of them says nothing or everything. */
const leastShape = 0.5
const greatestShape = 20

/** Half a change more in the days of one more record, so that a kind that never changed is not taken for frozen. */
function meanRate({ changes, exposure, records }: KindSums): number {
  return (changes + 0.5) / (exposure + exposure / Math.max(1, records) + 1)
}

/**
 * The prior of a kind: its mean rate, and by the method of moments how much its records differ. What their numbers of
 * changes spread beyond chance is how much their rates do.
 */
export function priorOf(sums: KindSums | undefined): Prior {
  if (!sums || sums.exposure <= 0) return unknown
  const mean = meanRate(sums)
  const spread = sums.changesSquared - 2 * mean * sums.changesByExposure + mean * mean * sums.exposureSquared
  const beyondChance = spread - mean * sums.exposure
  const shape = beyondChance > 0 ? (mean * mean * sums.exposureSquared) / beyondChance : greatestShape
  const changes = Math.min(greatestShape, Math.max(leastShape, shape))
  return { changes, days: changes / mean }
}

/** Changes a day. */
export function rateOf({ changes, exposure }: Evidence, prior: Prior): number {
  return (changes + prior.changes) / (exposure + prior.days)
}
