/** Declares a finding of the search for the records behind a difference. */
import type { Keys } from '../metrics/group-keys.ts'
import type { MetricFigures } from '../metrics/metric-query.ts'
import { groupKeys, type MetricName } from '../metrics/metric-query.ts'

/** A group that differs: one company, project, agency, month and week, or a coarser one. */
export interface DifferingCell {
  readonly keys: Keys
  readonly ours: MetricFigures | undefined
  readonly theirs: MetricFigures | undefined
}

/** Amount that a record adds to its groups: acceptances, or hours. */
export interface Contribution {
  readonly keys: Keys
  readonly amount: number
}

/** A record to be read again by the next sync; times as the service writes them. */
export interface LostRecord {
  readonly resource: string
  readonly id: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/**
 * newer, missing: the next sync brings it; deleted: the service no longer has it; quarantined: it could not be loaded;
 * uncovered: its id is unknown; definition: another interpretation of a rule is the cause, not a record;
 * lost: it was read and is no longer stored; differs: its stored version is not the service's;
 * unknown: nothing was found, or the search did not run.
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

export interface CrosscheckFinding {
  readonly metric: MetricName
  readonly kind: FindingKind
  /** Reference or id; undefined when there is no record. */
  readonly record: string | undefined
  /** Shown to the user: what differs, and where to see it. */
  readonly sentence: string
  /** Amounts that it adds here and in the service. An amount of 0 only says which groups are concerned. */
  readonly ours: readonly Contribution[]
  readonly theirs: readonly Contribution[]
  /** Time of the service's version, as the service writes it; undefined when unknown. */
  readonly changedAt?: string | null
  readonly loss?: LostRecord
}

const explanations: readonly FindingKind[] = [
  'newer',
  'missing',
  'deleted',
  'quarantined',
  'uncovered',
  'definition',
]

export const isExplanation = ({ kind }: CrosscheckFinding): boolean => explanations.includes(kind)

/** Whether a record with these keys belongs to a group, as far as both have the keys. */
export const isWithin = (keys: Keys, group: Keys): boolean =>
  groupKeys.every(key => keys[key] === undefined || group[key] === undefined || keys[key] === group[key])

export const concerns = ({ ours, theirs }: CrosscheckFinding, group: Keys): boolean =>
  [...ours, ...theirs].some(({ keys }) => isWithin(keys, group))

/** How much more the service counts in a group because of this finding. */
export function effectOn({ ours, theirs }: CrosscheckFinding, group: Keys): number {
  const sum = (list: readonly Contribution[]): number =>
    list.filter(({ keys }) => isWithin(keys, group)).reduce((total, { amount }) => total + amount, 0)
  return sum(theirs) - sum(ours)
}
