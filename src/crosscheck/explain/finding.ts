/** What the search for the records behind a difference finds. */
import type { Keys } from '../metrics/group-keys.ts'
import type { Figures } from '../metrics/metric-query.ts'
import { groupKeys, type Metric } from '../metrics/metric-query.ts'

/** A group that differs: one company, project, agency, month and week, or a coarser one. */
export interface DifferingCell {
  readonly keys: Keys
  readonly ours: Figures | undefined
  readonly theirs: Figures | undefined
}

/** What a record adds to the groups that it is in: acceptances, or hours. */
export interface Counted {
  readonly keys: Keys
  readonly amount: number
}

/** A record to be read again by the next sync; times as the service writes them. */
export interface Loss {
  readonly resource: string
  readonly id: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/**
 * newer, missing: the next sync brings it; deleted: the service does not have it any more; quarantined: it could not be
 * loaded; uncovered: its id is unknown; definition: no record, but another interpretation of a rule.
 * lost: it was read, and is not stored any more; differs: its stored version is not the one that the service shows;
 * unknown: nothing was found, or not looked for.
 */
export type FindingKind =
  | 'newer'
  | 'missing'
  | 'deleted'
  | 'quarantined'
  | 'uncovered'
  | 'definition'
  | 'lost'
  | 'differs'
  | 'unknown'

export interface Finding {
  readonly metric: Metric
  readonly kind: FindingKind
  /** Reference or id; undefined when there is no record. */
  readonly record: string | undefined
  /** For people: what differs, and where to see it. */
  readonly sentence: string
  /** What it adds here and at the service. An amount of 0 says only which groups are concerned. */
  readonly ours: readonly Counted[]
  readonly theirs: readonly Counted[]
  /** When the version that the service shows was made, as the service writes it; undefined when that is not known. */
  readonly changedAt?: string | null
  readonly loss?: Loss
}

const explanations: readonly FindingKind[] = [
  'newer',
  'missing',
  'deleted',
  'quarantined',
  'uncovered',
  'definition',
]

export const isExplanation = ({ kind }: Finding): boolean => explanations.includes(kind)

/** Whether what has these keys lies in a group, as far as both say. */
export const isWithin = (keys: Keys, group: Keys): boolean =>
  groupKeys.every(key => keys[key] === undefined || group[key] === undefined || keys[key] === group[key])

export const concerns = ({ ours, theirs }: Finding, group: Keys): boolean =>
  [...ours, ...theirs].some(({ keys }) => isWithin(keys, group))

/** How much more the service counts in a group because of this. */
export function effectOn({ ours, theirs }: Finding, group: Keys): number {
  const sum = (list: readonly Counted[]): number =>
    list.filter(({ keys }) => isWithin(keys, group)).reduce((total, { amount }) => total + amount, 0)
  return sum(theirs) - sum(ours)
}
