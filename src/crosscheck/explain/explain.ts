/** Finds the records behind differing groups: first the smallest groups that differ, then their records. */
import { BudgetSpent } from '../../lib/errors.ts'
import { type ComparedGroup, compare, differs, keysIn } from '../compare.ts'
import { type Grouping, groupKeys, type MetricName, sizeOf } from '../metrics/metric-query.ts'
import { measureOne, type OurGroup } from '../metrics/our-metrics.ts'
import { type Explanation, explainFill } from './explain-fill.ts'
import { explainHours } from './explain-hours.ts'
import { type CrosscheckFinding, concerns, type DifferingCell } from './finding.ts'
import type { ExplanationContext } from './stored-records.ts'

interface DifferingCells {
  readonly cells: readonly DifferingCell[]
  /** Whether every group was compared. */
  readonly isComplete: boolean
}

const finest: Grouping = groupKeys
const rowsPerPage = 200

const pagesFor = (groups: number): number => Math.max(1, Math.ceil(groups / rowsPerPage))

/** The projects to read one by one, if that takes fewer pages than reading everything; else undefined. */
function projectsToAsk(
  groups: readonly ComparedGroup[],
  ours: readonly OurGroup[],
): readonly string[] | undefined {
  const byProject = groups.filter(({ groupBy }) => groupBy === 'project')
  const projects = byProject.flatMap(({ keys }) => keys?.project ?? [])
  const isAny = projects.length > 0 && projects.length === byProject.length && !projects.includes('-1')
  if (!isAny) return undefined
  const sizes = projects.map(project => pagesFor(ours.filter(({ keys }) => keys.project === project).length))
  const sum = sizes.reduce((total, size) => total + size, 0)
  return sum < pagesFor(ours.length) ? projects : undefined
}

/** `groups` are those that differ, of any grouping. */
export async function differingCells(
  explaining: ExplanationContext,
  metric: MetricName,
  groups: readonly ComparedGroup[],
): Promise<DifferingCells> {
  const { stored, definition, range } = explaining
  const ours = await measureOne(stored.measure, { metric, groupings: [finest], ...range }, definition)
  const projects = projectsToAsk(groups, ours)
  const cells: DifferingCell[] = []
  let isComplete = true
  try {
    for (const project of projects ?? [undefined]) {
      const own = project === undefined ? ours : ours.filter(({ keys }) => keys.project === project)
      const found = await ask(explaining, metric, { ours: own, project })
      cells.push(...found.cells)
      isComplete &&= found.isComplete
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    isComplete = false
  }
  return { cells, isComplete }
}

const cellOf = (
  group: ComparedGroup,
  shown: Pick<ExplanationContext, 'definition' | 'names'>,
): DifferingCell => ({
  keys: keysIn(group, shown),
  ours: group.ours,
  theirs: group.theirs,
})

async function ask(
  { asker, definition, names, range }: ExplanationContext,
  metric: MetricName,
  { ours, project }: { readonly ours: readonly OurGroup[]; readonly project: string | undefined },
): Promise<DifferingCells> {
  const scope = { ...range, ...(project !== undefined && { project }) }
  const answer = await asker.ask({ metric, grouping: finest, ...scope }, asker.left)
  const cells = compare(ours, answer, { definition, names })
    .filter(group => differs(group, metric))
    .map(group => cellOf(group, { definition, names }))
  return { cells, isComplete: answer.isComplete }
}

const explainCells = { timeToFill: explainFill, workersOverHours: explainHours }

/** The smallest groups may agree where a larger one differs, for instance when two workers of one project swapped hours. */
const maxLargerGroups = 5

const unlooked = (metric: MetricName): CrosscheckFinding => ({
  ...{ metric, kind: 'unknown', record: undefined, ours: [], theirs: [{ keys: {}, amount: 0 }] },
  sentence: 'not all differences were looked into, as the requests are used: raise --max-requests',
})

/** `groups` are those that differ, of every grouping that was compared. */
export async function explain(
  explaining: ExplanationContext,
  metric: MetricName,
  groups: readonly ComparedGroup[],
): Promise<Explanation> {
  const { cells, isComplete } = await differingCells(explaining, metric, groups)
  const first = cells.length === 0 ? nothing : await explainCells[metric](explaining, cells)
  const findings = [...first.findings]
  let isAll = isComplete && first.isComplete
  for (let looks = 0; looks < maxLargerGroups && isAll; looks += 1) {
    const next = smallestOpen(
      groups.map(group => cellOf(group, explaining)),
      findings,
    )
    if (!next) break
    const more = await explainCells[metric](explaining, [next])
    isAll = more.isComplete
    if (!more.findings.some(finding => concerns(finding, next.keys))) break
    findings.push(...more.findings)
  }
  return { findings: isAll ? findings : [...findings, unlooked(metric)], isComplete: isAll }
}

const nothing: Explanation = { findings: [], isComplete: true }

/** The smallest groups that no finding concerns. */
function smallestOpen(
  groups: readonly DifferingCell[],
  findings: readonly CrosscheckFinding[],
): DifferingCell | undefined {
  return groups
    .filter(({ keys }) => !findings.some(finding => concerns(finding, keys)))
    .sort((left, right) => sizeOf(left.theirs ?? left.ours) - sizeOf(right.theirs ?? right.ours))[0]
}
