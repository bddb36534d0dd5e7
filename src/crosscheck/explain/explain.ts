/** Finds the records behind differing groups: first the smallest groups that differ, then their records. */
import type { ComparedGroup } from '../compare.ts'
import type { Metric } from '../metrics/metric-query.ts'
import { cellOf, differingCells } from './cells.ts'
import { explainFill, type Found } from './explain-fill.ts'
import { explainHours } from './explain-hours.ts'
import { concerns, type DifferingCell, type Finding } from './finding.ts'
import type { Explaining } from './stored-records.ts'

const explainCells = { timeToFill: explainFill, workersOverHours: explainHours }

/** The smallest groups may agree where a larger one differs: the hours of two workers in one project were exchanged. */
const mostLargerGroups = 5

const unlooked = (metric: Metric): Finding => ({
  ...{ metric, kind: 'unknown', record: undefined, ours: [], theirs: [{ keys: {}, amount: 0 }] },
  sentence: 'not all differences were looked into, as the requests are used: raise --max-requests',
})

/** `groups` are those that differ, of every grouping that was compared. */
export async function explain(
  explaining: Explaining,
  metric: Metric,
  groups: readonly ComparedGroup[],
): Promise<Found> {
  const { cells, isWhole } = await differingCells(explaining, metric, groups)
  const first = cells.length === 0 ? nothing : await explainCells[metric](explaining, cells)
  const findings = [...first.findings]
  let isAll = isWhole && first.isWhole
  for (let looks = 0; looks < mostLargerGroups && isAll; looks += 1) {
    const next = smallestOpen(
      groups.map(group => cellOf(group, explaining)),
      findings,
    )
    if (!next) break
    const more = await explainCells[metric](explaining, [next])
    isAll = more.isWhole
    if (!more.findings.some(finding => concerns(finding, next.keys))) break
    findings.push(...more.findings)
  }
  return { findings: isAll ? findings : [...findings, unlooked(metric)], isWhole: isAll }
}

const nothing: Found = { findings: [], isWhole: true }

const sizeOf = ({ theirs, ours }: DifferingCell): number => {
  const { rawCount, workerWeeks } = theirs ?? ours ?? {}
  return rawCount ?? workerWeeks ?? 0
}

/** Of the groups that no finding concerns. */
function smallestOpen(
  groups: readonly DifferingCell[],
  findings: readonly Finding[],
): DifferingCell | undefined {
  return groups
    .filter(({ keys }) => !findings.some(finding => concerns(finding, keys)))
    .sort((left, right) => sizeOf(left) - sizeOf(right))[0]
}
