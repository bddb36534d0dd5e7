/** Estimates how often a record changes, from its own fetches and from other records of its kind. */

/** For one record: the changes found, and the days in which a change could be found. */
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

/** A gamma distribution of rates: this many changes in this many days, before a record is fetched. */
export interface Prior {
  readonly changes: number
  readonly days: number
}

/** For a kind without any fetch: one change a month, with the weight of one record. */
const unknown: Prior = { changes: 0.5, days: 15 }

/** Limits of the shape: records of one kind are never entirely alike, nor entirely different. */
const minShape = 0.5
const maxShape = 20

/** Adds half a change in the days of one more record: a kind that never changed may still change. */
function meanRate({ changes, exposure, records }: KindSums): number {
  return (changes + 0.5) / (exposure + exposure / Math.max(1, records) + 1)
}

/**
 * The prior of a kind: its mean rate, and how much the rates of its records differ. Method of moments: the variance of
 * their change counts beyond chance.
 */
export function priorOf(sums: KindSums | undefined): Prior {
  if (!sums || sums.exposure <= 0) return unknown
  const mean = meanRate(sums)
  const spread = sums.changesSquared - 2 * mean * sums.changesByExposure + mean * mean * sums.exposureSquared
  const beyondChance = spread - mean * sums.exposure
  // Infinite where chance explains all of it.
  const shape = (mean * mean * sums.exposureSquared) / Math.max(0, beyondChance)
  const changes = Math.min(maxShape, Math.max(minShape, shape))
  return { changes, days: changes / mean }
}

/** Changes a day. */
export function rateOf({ changes, exposure }: ChangeCounts, prior: Prior): number {
  return (changes + prior.changes) / (exposure + prior.days)
}
