/** How often a record changes, estimated from its fetches and from other records of its kind. */

/** Of one record: changes found, and the days in which a change could be found. */
export interface ChangeCounts {
  readonly changes: number
  readonly exposure: number
}

/** Sums over the records of one kind, such as ended assignments. */
export interface KindSums extends ChangeCounts {
  readonly records: number
  readonly exposureSquared: number
  readonly changesByExposure: number
  readonly changesSquared: number
}

/** A gamma distribution of rates: so many changes in so many days, before a record is fetched. */
export interface Prior {
  readonly changes: number
  readonly days: number
}

/** Of a kind without a fetch yet: one change a month, with the weight of one record. */
const unknown: Prior = { changes: 0.5, days: 15 }

/** Limits of the shape: records of one kind are never wholly alike, nor wholly different. */
const leastShape = 0.5
const greatestShape = 20

/** Half a change more in the days of one more record: a kind that never changed may still change. */
function meanRate({ changes, exposure, records }: KindSums): number {
  return (changes + 0.5) / (exposure + exposure / Math.max(1, records) + 1)
}

/**
 * The prior of a kind: its mean rate, and by the method of moments how much the rates of its records differ: the variance
 * of their numbers of changes beyond that of chance.
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
export function rateOf({ changes, exposure }: ChangeCounts, prior: Prior): number {
  return (changes + prior.changes) / (exposure + prior.days)
}
