/** The verdict on each figure: equal, explained by records or a definition, uncovered, or unexplained. */
import { minuteMs } from '../lib/dates.ts'
import type { CrosscheckRow } from '../state/marts/tables.ts'
import { type ComparedGroup, comparedFigures } from './compare.ts'
import { concerns, effectOn, type Finding, isExplanation } from './explain/finding.ts'
import type { MetricDefinition } from './metrics/definition.ts'
import type { Keys } from './metrics/group-keys.ts'
import type { Metric } from './metrics/metric-query.ts'

export type Verdict = Pick<
  CrosscheckRow,
  'figure' | 'ours' | 'theirs' | 'difference' | 'verdict' | 'reason' | 'records'
>

/** Most sentences in a reason; records are all listed. */
const most = 5

interface About {
  readonly metric: Metric
  /** Of the group, ours or theirs. */
  readonly keys: Keys
  readonly findings: readonly Finding[]
  readonly definition: MetricDefinition
  /** When the first figure was asked for, ISO 8601. */
  readonly askedAt: string
}

/** Sums of both sides may be rounded. */
const roundingOf = (metric: Metric, { hoursDecimals }: MetricDefinition): number =>
  metric === 'timeToFill' ? 0 : 1e-6 + (hoursDecimals === null ? 0 : 10 ** -hoursDecimals)

/**
 * The figures are asked for one after the other, and the records behind them later: one that changed or went meanwhile is in
 * some of the figures with its new version, and in others with the one stored here.
 */
const isMoving = ({ kind, changedAt }: Finding, askedAt: string): boolean =>
  kind === 'deleted' ||
  (kind === 'newer' && Date.parse(changedAt ?? '') >= Date.parse(askedAt) - mostClocksDifferMs)

const mostClocksDifferMs = minuteMs

/** Hours and acceptances of some records have few different sums; of more than this, only all of them together are tried. */
const mostSums = 20_000

/** Whether some of the effects, all, or none add up to a difference. */
function isSumOfSome(difference: number, effects: readonly number[], rounding: number): boolean {
  const isIt = (sum: number): boolean => Math.abs(difference - sum) <= rounding
  const sums = new Map([['0', 0]])
  for (const effect of effects) {
    for (const sum of [...sums.values()]) sums.set((sum + effect).toFixed(4), sum + effect)
    if (sums.size > mostSums) return isIt(effects.reduce((sum, one) => sum + one, 0))
  }
  return [...sums.values()].some(isIt)
}

/** Whether the findings explain the whole difference, in acceptances or in hours. */
function accounts(
  concerned: readonly Finding[],
  group: ComparedGroup,
  { metric, keys, definition, askedAt }: About,
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
export function verdictsOf(group: ComparedGroup, about: About): Verdict[] {
  const { metric, keys, findings } = about
  const concerned = findings.filter(finding => finding.metric === metric && concerns(finding, keys))
  const isOut = concerned.some(({ kind }) => kind === 'uncovered')
  const excuse = isOut ? 'uncovered' : 'explained'
  const otherwise = accounts(concerned, group, about) ? excuse : 'unexplained'
  const sentences = [...new Set(concerned.map(({ sentence }) => sentence))]
  const more = sentences.length > most ? `; and ${sentences.length - most} more` : ''
  const reason =
    sentences.length === 0 ? 'no record was found to differ' : sentences.slice(0, most).join('; ') + more
  const records = [...new Set(concerned.flatMap(({ record }) => (record === undefined ? [] : [record])))]
  return comparedFigures(group, metric).map(({ isEqual, ...figure }) => ({
    ...figure,
    verdict: isEqual ? 'equal' : otherwise,
    reason: isEqual ? null : reason,
    records: isEqual || records.length === 0 ? null : JSON.stringify(records),
  }))
}
