/** What is said of each figure: equal, explained by records or a definition, or unexplained. */
import type { CrosscheckTable } from '../warehouse/ledger/crosscheck-tables.ts'
import { type ComparedGroup, comparedFigures } from './compare.ts'
import { concernsGroup, type Finding, isExplanation } from './finding.ts'
import type { Keys } from './group-shape.ts'
import type { Metric } from './metric-query.ts'

export type Verdict = Pick<
  CrosscheckTable,
  'figure' | 'ours' | 'theirs' | 'difference' | 'verdict' | 'reason' | 'records'
>

/** Sentences in a reason; the records are all named. */
const most = 5

/** Whether the findings account for the whole difference: for so many acceptances, or so many hours. */
function accounts(findings: readonly Finding[], group: ComparedGroup, metric: Metric): boolean {
  if (findings.length === 0 || !findings.every(isExplanation)) return false
  if (findings.some(({ kind }) => kind === 'definition')) return true
  const figure = metric === 'timeToFill' ? 'rawCount' : 'totalHours'
  const open = (group.theirs?.[figure] ?? 0) - (group.ours?.[figure] ?? 0)
  const known = findings.reduce((sum, { effect }) => sum + (effect ?? 0), 0)
  // A reference of the census may stand for one acceptance, or for none.
  const unsure = findings.filter(({ effect }) => effect === null).length
  const rounding = metric === 'timeToFill' ? 0 : 0.5
  return open >= known - rounding && open <= known + unsure + rounding
}

/** One row a figure. `keys` are of the group, ours or theirs. */
export function verdictsOf(
  group: ComparedGroup,
  { metric, keys, findings }: { metric: Metric; keys: Keys; findings: readonly Finding[] },
): Verdict[] {
  const concerned = findings.filter(finding => finding.metric === metric && concernsGroup(finding.cell, keys))
  const distinct = [...new Map(concerned.map(finding => [finding.sentence, finding])).values()]
  const isExplained = accounts(concerned, group, metric)
  const sentences = distinct.map(({ sentence }) => sentence)
  const more = sentences.length > most ? `; and ${sentences.length - most} more` : ''
  const reason =
    sentences.length === 0 ? 'no record was found to differ' : sentences.slice(0, most).join('; ') + more
  const records = distinct.flatMap(({ record }) => (record === undefined ? [] : [record]))
  return comparedFigures(group, metric).map(({ isEqual, ...figure }) => ({
    ...figure,
    verdict: isEqual ? 'equal' : isExplained ? 'explained' : 'unexplained',
    reason: isEqual ? null : reason,
    records: isEqual || records.length === 0 ? null : JSON.stringify([...new Set(records)]),
  }))
}
