/** Judges each figure: equal, explained by records or a definition, uncovered, or unexplained. */
import { minuteMs } from '../lib/dates.ts'
import type { CrosscheckRow } from '../state/marts/tables.ts'
import { type ComparedGroup, comparedFigures } from './compare.ts'
import { type CrosscheckFinding, concerns, effectOn, isExplanation } from './explain/finding.ts'
import type { MetricDefinition } from './metrics/definition.ts'
import type { Keys } from './metrics/group-keys.ts'
import type { MetricName } from './metrics/metric-query.ts'

export type Verdict = Pick<
  CrosscheckRow,
  'figure' | 'ours' | 'theirs' | 'difference' | 'verdict' | 'reason' | 'records'
>

/** Max sentences in a reason; all records are listed. */
const maxSentences = 5

interface VerdictSubject {
  readonly metric: MetricName
  /** Of the group, ours or theirs. */
  readonly keys: Keys
  readonly findings: readonly CrosscheckFinding[]
  readonly definition: MetricDefinition
  /** When the first figure was asked for, ISO 8601. */
  readonly askedAt: string
}

/** Sums of both sides may be rounded. */
const roundingOf = (metric: MetricName, { hoursDecimals }: MetricDefinition): number =>
  metric === 'timeToFill' ? 0 : 1e-6 + (hoursDecimals === null ? 0 : 10 ** -hoursDecimals)

/**
 * Figures are requested one after the other, and the records behind them later. A record that changes in between counts with
 * its new version in some figures, and with the stored version in others.
 */
const isMoving = ({ kind, changedAt }: CrosscheckFinding, askedAt: string): boolean =>
  kind === 'deleted' ||
  (kind === 'newer' && Date.parse(changedAt ?? '') >= Date.parse(askedAt) - maxClocksDifferMs)

const maxClocksDifferMs = minuteMs

/** Max sums of subsets of the effects; beyond this, only the sum of all effects is tried. */
const maxSums = 20_000

/** Whether any subset of the effects adds up to the difference. */
function isSumOfSome(difference: number, effects: readonly number[], rounding: number): boolean {
  const isIt = (sum: number): boolean => Math.abs(difference - sum) <= rounding
  const sums = new Map([['0', 0]])
  for (const effect of effects) {
    for (const sum of [...sums.values()]) sums.set((sum + effect).toFixed(4), sum + effect)
    if (sums.size > maxSums) return isIt(effects.reduce((sum, one) => sum + one, 0))
  }
  return [...sums.values()].some(isIt)
}

/** Whether the findings explain the whole difference, in acceptances or in hours. */
function accounts(
  concerned: readonly CrosscheckFinding[],
  group: ComparedGroup,
  { metric, keys, definition, askedAt }: VerdictSubject,
): boolean {
  if (concerned.length === 0 || !concerned.every(isExplanation)) return false
  if (concerned.some(({ kind }) => kind === 'definition')) return true
  const figure = metric === 'timeToFill' ? 'rawCount' : 'totalHours'
  const open = (group.theirs?.[figure] ?? 0) - (group.ours?.[figure] ?? 0)
  const [moving, known] = [[] as number[], [] as number[]]
  for (const finding of concerned) (isMoving(finding, askedAt) ? moving : known).push(effectOn(finding, keys))
  const rest = known.reduce((left, effect) => left - effect, open)
  return isSumOfSome(rest, moving, roundingOf(metric, definition))
}

/** One row for each figure. */
export function verdictsOf(group: ComparedGroup, about: VerdictSubject): Verdict[] {
  const { metric, keys, findings } = about
  const concerned = findings.filter(finding => finding.metric === metric && concerns(finding, keys))
  const isOut = concerned.some(({ kind }) => kind === 'uncovered')
  const excuse = isOut ? 'uncovered' : 'explained'
  const otherwise = accounts(concerned, group, about) ? excuse : 'unexplained'
  const sentences = [...new Set(concerned.map(({ sentence }) => sentence))]
  const more = sentences.length > maxSentences ? `; and ${sentences.length - maxSentences} more` : ''
  const reason =
    sentences.length === 0
      ? 'no differing record was found'
      : sentences.slice(0, maxSentences).join('; ') + more
  const records = [...new Set(concerned.flatMap(({ record }) => (record === undefined ? [] : [record])))]
  return comparedFigures(group, metric).map(({ isEqual, ...figure }) => ({
    ...figure,
    verdict: isEqual ? 'equal' : otherwise,
    reason: isEqual ? null : reason,
    records: isEqual || records.length === 0 ? null : JSON.stringify(records),
  }))
}
