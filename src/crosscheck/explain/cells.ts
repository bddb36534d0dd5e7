/** The smallest groups that differ: one company, project, agency, month and week each. */
import { BudgetSpent } from '../../lib/errors.ts'
import { type ComparedGroup, compare, differs, keysIn } from '../compare.ts'
import { type Grouping, groupKeys, type Metric } from '../metrics/metric-query.ts'
import type { OurGroup } from '../metrics/our-metrics.ts'
import type { DifferingCell } from './finding.ts'
import type { Explaining } from './stored-records.ts'

export interface Cells {
  readonly cells: readonly DifferingCell[]
  /** Whether every group was compared. */
  readonly isWhole: boolean
}

const finest: Grouping = groupKeys
const rowsPerPage = 200

const pagesFor = (groups: number): number => Math.max(1, Math.ceil(groups / rowsPerPage))

/** Projects one by one when that takes fewer pages than everything; undefined for everything. */
function projectsToAsk(
  groups: readonly ComparedGroup[],
  ours: readonly OurGroup[],
): readonly string[] | undefined {
  const byProject = groups.filter(({ groupBy }) => groupBy === 'project')
  const projects = byProject.map(({ keys }) => keys?.project)
  if (projects.length === 0 || projects.some(project => project === undefined || project === '-1'))
    return undefined
  const sizes = projects.map(project => pagesFor(ours.filter(({ keys }) => keys.project === project).length))
  const sum = sizes.reduce((total, size) => total + size, 0)
  return sum < pagesFor(ours.length) ? projects.flatMap(project => project ?? []) : undefined
}

/** `groups` are those that differ, of any grouping. */
export async function differingCells(
  explaining: Explaining,
  metric: Metric,
  groups: readonly ComparedGroup[],
): Promise<Cells> {
  const { stored, definition, range } = explaining
  const [ours = []] = await stored.measure({ metric, groupings: [finest], ...range }, [definition])
  const projects = projectsToAsk(groups, ours)
  const cells: DifferingCell[] = []
  let isWhole = true
  try {
    for (const project of projects ?? [undefined]) {
      const own = project === undefined ? ours : ours.filter(({ keys }) => keys.project === project)
      const found = await ask(explaining, metric, { ours: own, project })
      cells.push(...found.cells)
      isWhole &&= found.isWhole
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    isWhole = false
  }
  return { cells, isWhole }
}

export const cellOf = (
  group: ComparedGroup,
  shown: Pick<Explaining, 'definition' | 'names'>,
): DifferingCell => ({ keys: keysIn(group, shown), ours: group.ours, theirs: group.theirs })

async function ask(
  { asker, definition, names, range }: Explaining,
  metric: Metric,
  { ours, project }: { readonly ours: readonly OurGroup[]; readonly project: string | undefined },
): Promise<Cells> {
  const scope = { ...range, ...(project !== undefined && { project }) }
  const answer = await asker.ask({ metric, grouping: finest, ...scope }, asker.left)
  const cells = compare(ours, answer, { definition, names })
    .filter(group => differs(group, metric))
    .map(group => cellOf(group, { definition, names }))
  return { cells, isWhole: answer.isWhole }
}
