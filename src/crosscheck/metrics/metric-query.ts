/** A query of a metric, the same for us and for the service. */

export const metrics = ['timeToFill', 'workersOverHours'] as const
export type MetricName = (typeof metrics)[number]

/** In the order in which group keys are written. */
export const groupKeys = ['company', 'project', 'agency', 'month', 'week'] as const
export type GroupKey = (typeof groupKeys)[number]

/** Keys of one grouping; empty for `all`. */
export type Grouping = readonly GroupKey[]

/** `all`, or the keys with commas in a fixed order, so that each set has one name. */
export function groupingName(grouping: Grouping): string {
  const used = groupKeys.filter(key => grouping.includes(key))
  return used.length === 0 ? 'all' : used.join(',')
}

/** Undefined when a word is not a key. `all` beside another key has no effect. */
export function groupingOf(text: string): Grouping | undefined {
  const words = text.split(',').filter(word => word !== 'all')
  const known = groupKeys.filter(key => words.includes(key))
  return words.every(word => known.includes(word as GroupKey)) ? known : undefined
}

/** Days as YYYY-MM-DD; ids of the service. */
export interface MetricRange {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly company?: string | undefined
  readonly project?: string | undefined
  readonly agency?: string | undefined
}

/** Weekly net hours, by default. */
export const defaultThreshold = 48

export interface MetricQuery extends MetricRange {
  readonly metric: MetricName
  readonly groupings: readonly Grouping[]
  /** Of workersOverHours. */
  readonly threshold?: number | undefined
}

/** Figures by the service's names, in its order. `iqrBounds` are `lower` and `upper` here. */
export const figureNames = {
  timeToFill: [
    'rawCount',
    'excludedOutliers',
    'lower',
    'upper',
    'count',
    'averageDays',
    'medianDays',
    'minDays',
    'maxDays',
    'p25Days',
    'p75Days',
  ],
  workersOverHours: [
    'thresholdHours',
    'workerWeeks',
    'workersOverThreshold',
    'distinctWorkersOverThreshold',
    'totalHours',
    'averageWeeklyHours',
    'maxWeeklyHours',
  ],
} as const

export type MetricFigures = Readonly<Record<string, number | null>>

/** Of a group, in acceptances or weeks. */
export const sizeOf = (figures: MetricFigures | undefined): number =>
  figures?.rawCount ?? figures?.workerWeeks ?? 0

/** Max difference between equal figures: counts agree exactly, days and hours to a hundredth. */
export function tolerance(figure: string): number {
  return /Days$|Hours$|^lower$|^upper$/.test(figure) ? 0.01 : 0
}
