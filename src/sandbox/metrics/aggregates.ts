/**
 * Computes the two aggregates. Time to fill: days from the approval of a requisition to an agency's acceptance, without
 * outliers. Workers over hours: the weeks in which workers worked more hours than a threshold.
 */
import { groupBy } from '../../lib/group-by.ts'
import {
  closed,
  integerSchema,
  type NamedSchema,
  number,
  orNull,
  refSchema,
  text,
} from '../declare/schemas.ts'
import type { ContractOptions } from '../options.ts'
import {
  daysToFill,
  type GroupMember,
  type GroupQuery,
  grouped,
  groupSchema,
  type MeasuredRequisition,
  type MeasuredTimesheet,
  quantile,
  rounded,
  weekStarting,
} from './groups.ts'

const days = orNull(number)
const dayFigures = ['averageDays', 'medianDays', 'minDays', 'maxDays', 'p25Days', 'p75Days']

export const timeToFillRow: NamedSchema = {
  name: 'TimeToFillRow',
  schema: closed(
    {
      group: groupSchema,
      rawCount: integerSchema,
      excludedOutliers: integerSchema,
      iqrBounds: closed({ lower: days, upper: days }),
      values: closed({ count: integerSchema, ...Object.fromEntries(dayFigures.map(name => [name, days])) }),
    },
    { required: [], description: 'Days from approval to the acceptance of a supplier, without outliers.' },
  ),
  uses: [refSchema],
}

interface MeasuredAcceptance extends GroupMember {
  readonly days: number
}

/** `from` and `to` apply to the day of acceptance; a group without acceptances has no row. */
export function timeToFill(
  requisitions: readonly MeasuredRequisition[],
  query: GroupQuery,
  options: ContractOptions,
) {
  const counted: readonly string[] = options['fill-statuses']
  const acceptances = requisitions
    .filter(({ status = '' }) => counted.includes(status))
    .flatMap(requisition => acceptancesOf(requisition, options))
  return grouped(acceptances, query, options).map(({ group, members }) => {
    const taken = members.map(member => member.days)
    return { group, ...summary(taken, options) }
  })
}

/** The first or last acceptance is that of the requisition, so it is chosen before the filter by agency. */
function acceptancesOf(requisition: MeasuredRequisition, options: ContractOptions): MeasuredAcceptance[] {
  const { approvedDate, company, project, agencies = [] } = requisition
  if (!approvedDate) return []
  const all = agencies.flatMap(({ id, name, dateAccepted }) => {
    if (!dateAccepted) return []
    const atMs = Date.parse(dateAccepted)
    const taken = daysToFill(Date.parse(approvedDate), atMs, options)
    return [{ days: taken, atMs, company, project, agency: { id, name } }]
  })
  const { acceptance, 'fill-negative': negative } = options
  const inTime = all.toSorted((left, right) => left.atMs - right.atMs)
  const counted = { perAgency: all, earliest: inTime.slice(0, 1), latest: inTime.slice(-1) }[acceptance]
  // Accepted before the approval.
  if (negative === 'dropped') return counted.filter(({ days }) => days >= 0)
  return negative === 'counted' ? counted : counted.map(one => ({ ...one, days: Math.max(0, one.days) }))
}

const outlierReach = 1.5

/** The bounds come from the quartiles of all values; `values` describes the values within them. */
function summary(values: readonly number[], options: ContractOptions) {
  const { quantiles } = options
  const sorted = values.toSorted((left, right) => left - right)
  const bounds = sorted.length < options['outlier-min'] ? undefined : boundsOf(sorted, quantiles)
  const { lower, upper } = bounds ?? { lower: -Infinity, upper: Infinity }
  const isInclusive = options['outlier-bounds'] === 'inclusive'
  const inRange = sorted.filter(value =>
    isInclusive ? value >= lower && value <= upper : value > lower && value < upper,
  )
  const shown = (value: number | undefined) => (value === undefined ? null : rounded(value, options))
  const quartile = (share: number) =>
    shown(inRange.length === 0 ? undefined : quantile(inRange, share, quantiles))
  const sum = inRange.reduce((total, value) => total + value, 0)
  return {
    rawCount: sorted.length,
    excludedOutliers: sorted.length - inRange.length,
    iqrBounds: { lower: shown(bounds?.lower), upper: shown(bounds?.upper) },
    values: {
      count: inRange.length,
      averageDays: shown(inRange.length === 0 ? undefined : sum / inRange.length),
      medianDays: quartile(0.5),
      minDays: shown(inRange[0]),
      maxDays: shown(inRange.at(-1)),
      p25Days: quartile(0.25),
      p75Days: quartile(0.75),
    },
  }
}

function boundsOf(sorted: readonly number[], method: ContractOptions['quantiles']) {
  const lowest = quantile(sorted, 0.25, method)
  const highest = quantile(sorted, 0.75, method)
  const reach = outlierReach * (highest - lowest)
  return { lower: lowest - reach, upper: highest + reach }
}

export const workersOverHoursRow: NamedSchema = {
  name: 'WorkersOverHoursRow',
  schema: closed(
    {
      group: groupSchema,
      values: closed({
        thresholdHours: number,
        hoursField: text,
        workerWeeks: integerSchema,
        workersOverThreshold: integerSchema,
        distinctWorkersOverThreshold: integerSchema,
        totalHours: number,
        averageWeeklyHours: number,
        maxWeeklyHours: number,
      }),
    },
    { required: [], description: 'Weeks in which workers worked more hours than the threshold.' },
  ),
  uses: [refSchema],
}

interface HoursQuery extends GroupQuery {
  readonly threshold: number
}

interface MeasuredHours extends GroupMember {
  readonly worker: string
  readonly hours: number
}

/** A worker-week is one worker's timesheets of one week, added up within the group. */
export function workersOverHours(
  timesheets: readonly MeasuredTimesheet[],
  query: HoursQuery,
  options: ContractOptions,
) {
  const counted: readonly string[] = options['hours-statuses']
  const sheets = timesheets
    .filter(({ status = '' }) => counted.includes(status))
    .map(timesheet => sheetOf(timesheet, options['hours-field']))
  return grouped(sheets, query, options).map(({ group, members }) => ({
    group,
    values: values(members, query.threshold, options),
  }))
}

function sheetOf(timesheet: MeasuredTimesheet, field: ContractOptions['hours-field']): MeasuredHours {
  const { company, project, agency, worker, weekEnding } = timesheet
  return {
    ...{ company, project, agency },
    worker: worker?.id ?? '',
    atMs: Date.parse(weekEnding ?? ''),
    hours: field === 'netHours' ? (timesheet.netHours ?? 0) : timelogHours(timesheet),
  }
}

function timelogHours({ timelogs = [] }: MeasuredTimesheet): number {
  return timelogs.reduce((sum, { hours }) => sum + (hours?.total ?? 0), 0)
}

function values(sheets: readonly MeasuredHours[], threshold: number, options: ContractOptions) {
  const weekOf = (atMs: number): string | number =>
    options['worker-week'] === 'calendarWeek' ? weekStarting(atMs, options) : atMs
  const byWeek = groupBy(sheets, ({ worker, atMs }) => `${worker} ${weekOf(atMs)}`)
  const weeks = [...byWeek.values()].map(own => ({
    worker: own[0]?.worker,
    hours: own.reduce((sum, { hours }) => sum + hours, 0),
  }))
  const over = weeks.filter(({ hours }) =>
    options.threshold === 'over' ? hours > threshold : hours >= threshold,
  )
  const totalHours = weeks.reduce((sum, { hours }) => sum + hours, 0)
  const maxHours = weeks.reduce((max, { hours }) => Math.max(max, hours), 0)
  return {
    thresholdHours: threshold,
    hoursField: options['hours-field'],
    workerWeeks: weeks.length,
    workersOverThreshold: over.length,
    distinctWorkersOverThreshold: new Set(over.map(({ worker }) => worker)).size,
    totalHours: rounded(totalHours, options),
    averageWeeklyHours: rounded(totalHours / weeks.length, options),
    maxWeeklyHours: rounded(maxHours, options),
  }
}
