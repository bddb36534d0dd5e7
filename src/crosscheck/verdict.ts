/** The verdict on each figure: equal, explained by records or a definition, uncovered, or unexplained. */
import type { ReferenceCoverage } from '../state/by-id/coverage.ts'
import type { CrosscheckRow } from '../state/marts/tables.ts'
import { type ComparedGroup, comparedFigures } from './compare.ts'
import { concernsGroup, type Finding, isExplanation } from './explain/finding.ts'
import type { Keys } from './metrics/group-keys.ts'
import type { Metric } from './metrics/metric-query.ts'

export type Verdict = Pick<
  CrosscheckRow,
  'figure' | 'ours' | 'theirs' | 'difference' | 'verdict' | 'reason' | 'records'
>

/** Most sentences in a reason; records are all listed. */
const most = 5

/** Whether the findings explain the whole difference, in acceptances or in hours. */
function accounts(findings: readonly Finding[], group: ComparedGroup, metric: Metric): boolean {
  if (findings.length === 0 || !findings.every(isExplanation)) return false
  if (findings.some(({ kind }) => kind === 'definition')) return true
  const figure = metric === 'timeToFill' ? 'rawCount' : 'totalHours'
  const open = (group.theirs?.[figure] ?? 0) - (group.ours?.[figure] ?? 0)
  const known = findings.reduce((sum, { effect }) => sum + (effect ?? 0), 0)
  // A reference in the metric rows may stand for one acceptance or for none.
  const unsure = findings.filter(({ effect }) => effect === null).length
  const rounding = metric === 'timeToFill' ? 0 : 0.5
  return open >= known - rounding && open <= known + unsure + rounding
}

interface About {
  readonly metric: Metric
  /** Of the group, ours or theirs. */
  readonly keys: Keys
  readonly findings: readonly Finding[]
  readonly coverage: ReferenceCoverage
}

/**
 * The service counts more acceptances than we do, no stored record is wrong, and metric rows name requisitions whose ids
 * are unknown: these may be the whole difference, and no request can show it.
 */
function isUncovered(
  group: ComparedGroup,
  { metric, coverage }: About,
  concerned: readonly Finding[],
): boolean {
  const more = (group.theirs?.rawCount ?? 0) - (group.ours?.rawCount ?? 0)
  const isRight = concerned.every(({ kind }) => kind !== 'differs')
  return metric === 'timeToFill' && more > 0 && coverage.withoutId > 0 && isRight
}

const uncoveredReason = ({ withoutId, known }: ReferenceCoverage): string =>
  `${withoutId} of ${known} requisitions are known by reference only: events or muster discover bring their ids`

/** One row for each figure. */
export function verdictsOf(group: ComparedGroup, about: About): Verdict[] {
  const { metric, keys, findings } = about
  const concerned = findings.filter(finding => finding.metric === metric && concernsGroup(finding.cell, keys))
  const distinct = [...new Map(concerned.map(finding => [finding.sentence, finding])).values()]
  const isExplained = accounts(concerned, group, metric)
  const isOut = !isExplained && isUncovered(group, about, concerned)
  const otherwise = isExplained ? 'explained' : isOut ? 'uncovered' : 'unexplained'
  const sentences = distinct.map(({ sentence }) => sentence)
  const more = sentences.length > most ? `; and ${sentences.length - most} more` : ''
  const found =
    sentences.length === 0 ? 'no record was found to differ' : sentences.slice(0, most).join('; ') + more
  const reason = isOut ? uncoveredReason(about.coverage) : found
  const records = distinct.flatMap(({ record }) => (record === undefined ? [] : [record]))
  return comparedFigures(group, metric).map(({ isEqual, ...figure }) => ({
    ...figure,
    verdict: isEqual ? 'equal' : otherwise,
    reason: isEqual ? null : reason,
    records: isEqual || records.length === 0 ? null : JSON.stringify([...new Set(records)]),
  }))
}
