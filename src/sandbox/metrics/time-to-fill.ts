/** Time to fill: days from the approval of a requisition to an agency's acceptance, without outliers. */
import { type DayWindow, daysBetween, inWindow } from './calendar-days.ts'
import { type GroupKey, grouped, type Member } from './groups.ts'
import type { MeasuredRequisition } from './measured.ts'
import { type MetricOptions, rounded } from './options.ts'
import { quantile } from './quantile.ts'

export interface FillQuery extends DayWindow {
  readonly groupBy: readonly GroupKey[]
  /** Ids; all agencies when absent. */
  readonly agencies?: readonly string[] | undefined
}

interface Acceptance extends Member {
  readonly days: number
}

/** `from` and `to` apply to the day of acceptance; groups without any acceptance are no rows. */
export function timeToFill(
  requisitions: readonly MeasuredRequisition[],
  query: FillQuery,
  options: MetricOptions,
) {
  const inRange = inWindow(query, options)
  const acceptances = requisitions
    .filter(requisition => options.requisitionStatuses.includes(requisition.status ?? ''))
    .flatMap(requisition => acceptancesOf(requisition, options))
    .filter(({ agency, atMs }) => inRange(atMs) && (query.agencies?.includes(agency?.id ?? '') ?? true))
  return grouped(acceptances, query.groupBy, options).map(({ group, members }) => ({
    group,
    ...summary(
      members.map(member => member.days),
      options,
    ),
  }))
}

/** The first or last answer is chosen before any agency is asked for: it is the requisition's. */
function acceptancesOf(requisition: MeasuredRequisition, options: MetricOptions): Acceptance[] {
  const { approvedDate, company, project } = requisition
  if (!approvedDate) return []
  const all = (requisition.agencies ?? []).flatMap(({ id, name, dateAccepted }) => {
    if (!dateAccepted) return []
    const atMs = Date.parse(dateAccepted)
    const days = daysBetween(Date.parse(approvedDate), atMs, options.days)
    return [{ days, atMs, company, project, agency: { id, name } }]
  })
  if (options.acceptance === 'perAgency') return all
  all.sort((left, right) => left.atMs - right.atMs)
  return options.acceptance === 'earliest' ? all.slice(0, 1) : all.slice(-1)
}

/** Quartiles of all values make the bounds; everything under `values` is of those within them. */
function summary(days: readonly number[], options: MetricOptions) {
  const sorted = [...days].sort((left, right) => left - right)
  const bounds = sorted.length < options.leastForRule ? undefined : boundsOf(sorted, options)
  const kept = bounds ? sorted.filter(value => isWithin(value, bounds, options)) : sorted
  const shown = (value: number) => rounded(value, options)
  return {
    rawCount: sorted.length,
    excludedOutliers: sorted.length - kept.length,
    iqrBounds: bounds
      ? { lower: shown(bounds.lower), upper: shown(bounds.upper) }
      : { lower: null, upper: null },
    values: statistics(kept, options),
  }
}

interface Bounds {
  readonly lower: number
  readonly upper: number
}

const REACH = 1.5

function boundsOf(sorted: readonly number[], { quantiles }: MetricOptions): Bounds {
  const lowest = quantile(sorted, 0.25, quantiles)
  const highest = quantile(sorted, 0.75, quantiles)
  const reach = REACH * (highest - lowest)
  return { lower: lowest - reach, upper: highest + reach }
}

function isWithin(value: number, { lower, upper }: Bounds, { bounds }: MetricOptions): boolean {
  return bounds === 'inclusive' ? value >= lower && value <= upper : value > lower && value < upper
}

function statistics(sorted: readonly number[], options: MetricOptions) {
  const count = sorted.length
  const of = (share: number) =>
    count === 0 ? null : rounded(quantile(sorted, share, options.quantiles), options)
  const sum = sorted.reduce((total, value) => total + value, 0)
  const ends = [sorted[0], sorted.at(-1)].map(value =>
    value === undefined ? null : rounded(value, options),
  ) as [number | null, number | null]
  return {
    count,
    averageDays: count === 0 ? null : rounded(sum / count, options),
    medianDays: of(0.5),
    minDays: ends[0],
    maxDays: ends[1],
    p25Days: of(0.25),
    p75Days: of(0.75),
  }
}
