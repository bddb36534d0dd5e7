/** Finds the records behind differing groups: first the projects that differ, then their cells, then the records. */
import { mondayOf } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { type ComparedGroup, compare, comparedFigures } from '../compare.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Keys, Names } from '../metrics/group-keys.ts'
import type { Grouping, Metric } from '../metrics/metric-query.ts'
import { ourMetrics } from '../metrics/our-metrics.ts'
import { explainFill } from './explain-fill.ts'
import { explainHours } from './explain-hours.ts'
import type { DifferingCell, Explaining, Finding } from './finding.ts'

/** Limits of the search; the rest is reported as unexplained. */
const mostProjects = 5
const mostCells = 6

export const differs = (group: ComparedGroup, metric: Metric): boolean =>
  comparedFigures(group, metric).some(({ isEqual }) => !isEqual)

interface Look {
  readonly grouping: Grouping
  readonly project?: string
  readonly pages: number
}

async function differing(
  explaining: Explaining,
  metric: Metric,
  { grouping, project, pages }: Look,
): Promise<DifferingCell[]> {
  const { engine, asker, definition, names, range } = explaining
  const scope = { ...range, ...(project !== undefined && { project }) }
  const ours = await ourMetrics(engine, { metric, groupings: [grouping], ...scope }, definition)
  const answer = await asker.ask({ metric, grouping, ...scope }, pages)
  return compare(ours, answer, { definition, names })
    .filter(group => differs(group, metric))
    .map(group => ({
      keys: {
        ...(group.keys ?? keysOf(group, { names, definition })),
        ...(project !== undefined && { project }),
      },
      ours: group.ours,
      theirs: group.theirs,
    }))
}

/** Keys of a group that only the service has: ids for names, and days as we write them. */
export function keysOf(
  { group }: Pick<ComparedGroup, 'group'>,
  { names, definition }: { names: Names; definition: MetricDefinition },
): Keys {
  const ids = (['company', 'project', 'agency'] as const).flatMap((key): [string, string][] => {
    const value = group[key]
    if (value === undefined || value === null) return []
    if (typeof value === 'object') return [[key, String((value as { id?: unknown }).id)]]
    const text = String(value)
    const id = names[key].has(text) ? text : [...names[key]].find(([, name]) => name === text)?.[0]
    return id === undefined ? [] : [[key, id]]
  })
  const month = typeof group.month === 'string' ? { month: group.month.slice(0, 7) } : {}
  const week = typeof group.week === 'string' ? { week: firstDay(group.week, definition.weekStart) } : {}
  return { ...Object.fromEntries(ids), ...month, ...week }
}

const daysBeforeMonday = { monday: 0, sunday: 1, saturday: 2 } as const

function firstDay(week: string, start: MetricDefinition['weekStart']): string {
  return mondayOf(week, -daysBeforeMonday[start]) ?? week
}

async function explainMetric(explaining: Explaining, metric: Metric): Promise<Finding[]> {
  const projects = await differing(explaining, metric, { grouping: ['project'], pages: 3 })
  const cells: DifferingCell[] = []
  for (const { keys } of projects.slice(0, mostProjects)) {
    if (keys.project === undefined || keys.project === '-1') continue
    const grouping: Grouping = metric === 'timeToFill' ? ['agency', 'month'] : ['agency', 'week']
    cells.push(...(await differing(explaining, metric, { grouping, project: keys.project, pages: 2 })))
  }
  const some = cells.slice(0, mostCells)
  if (metric === 'timeToFill') return explainFill(explaining, some)
  return explainHours(
    explaining,
    some.map(({ keys }) => keys),
  )
}

/** Nothing when the requests are used up on the way. */
export async function explain(explaining: Explaining, metric: Metric): Promise<Finding[]> {
  try {
    return await explainMetric(explaining, metric)
  } catch (error) {
    if (error instanceof BudgetSpent) return []
    throw error
  }
}
