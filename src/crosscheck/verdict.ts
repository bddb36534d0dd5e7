/** The verdict on each figure: equal, explained by records or a definition, uncovered, or unexplained. */
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
}

/** Sums of both sides may be rounded. */
const roundingOf = (metric: Metric, { hoursDecimals }: MetricDefinition): number =>
  metric === 'timeToFill' ? 0 : 1e-6 + (hoursDecimals === null ? 0 : 10 ** -hoursDecimals)

/** Whether the findings explain the whole difference, in acceptances or in hours. */
function accounts(
  concerned: readonly Finding[],
  group: ComparedGroup,
  { metric, keys, definition }: About,
): boolean {
  if (concerned.length === 0 || !concerned.every(isExplanation)) return false
  if (concerned.some(({ kind }) => kind === 'definition')) return true
  const figure = metric === 'timeToFill' ? 'rawCount' : 'totalHours'
  const open = (group.theirs?.[figure] ?? 0) - (group.ours?.[figure] ?? 0)
  const known = concerned.reduce((sum, finding) => sum + effectOn(finding, keys), 0)
  return Math.abs(open - known) <= roundingOf(metric, definition)
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
