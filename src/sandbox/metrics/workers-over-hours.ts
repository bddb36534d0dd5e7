/** Workers over hours: the weeks in which workers did more hours than a threshold. */
import { type DayWindow, inWindow } from './calendar-days.ts'
import { type GroupKey, grouped, type Member } from './groups.ts'
import type { MeasuredTimesheet } from './measured.ts'
import { type MetricOptions, rounded } from './options.ts'

export interface HoursQuery extends DayWindow {
  readonly groupBy: readonly GroupKey[]
  readonly agencies?: readonly string[] | undefined
  readonly threshold: number
}

interface Sheet extends Member {
  readonly worker: string
  readonly hours: number
}

/** A worker-week is one worker's timesheets of one week ending, added up within the group. */
export function workersOverHours(
  timesheets: readonly MeasuredTimesheet[],
  query: HoursQuery,
  options: MetricOptions,
) {
  const inRange = inWindow(query, options)
  const sheets = timesheets
    .filter(timesheet => options.timesheetStatuses.includes(timesheet.status ?? ''))
    .map(timesheet => sheetOf(timesheet, options))
    .filter(({ agency, atMs }) => inRange(atMs) && (query.agencies?.includes(agency?.id ?? '') ?? true))
  return grouped(sheets, query.groupBy, options).map(({ group, members }) => ({
    group,
    values: values(members, query.threshold, options),
  }))
}

function sheetOf(timesheet: MeasuredTimesheet, { hoursField }: MetricOptions): Sheet {
  const { company, project, agency, worker, weekEnding } = timesheet
  return {
    ...{ company, project, agency },
    worker: worker?.id ?? '',
    atMs: Date.parse(weekEnding ?? ''),
    hours: hoursField === 'netHours' ? (timesheet.netHours ?? 0) : timelogHours(timesheet),
  }
}

function timelogHours({ timelogs = [] }: MeasuredTimesheet): number {
  return timelogs.reduce((sum, { hours }) => sum + (hours?.total ?? 0), 0)
}

interface WorkerWeek {
  readonly worker: string
  hours: number
}

function values(sheets: readonly Sheet[], threshold: number, options: MetricOptions) {
  const weeks = [...workerWeeks(sheets).values()]
  const over = weeks.filter(({ hours }) =>
    options.threshold === 'over' ? hours > threshold : hours >= threshold,
  )
  const totalHours = weeks.reduce((sum, { hours }) => sum + hours, 0)
  return {
    thresholdHours: threshold,
    hoursField: options.hoursField,
    workerWeeks: weeks.length,
    workersOverThreshold: over.length,
    distinctWorkersOverThreshold: new Set(over.map(({ worker }) => worker)).size,
    totalHours: rounded(totalHours, options),
    averageWeeklyHours: rounded(totalHours / weeks.length, options),
    maxWeeklyHours: rounded(
      weeks.reduce((most, { hours }) => Math.max(most, hours), 0),
      options,
    ),
  }
}

function workerWeeks(sheets: readonly Sheet[]): Map<string, WorkerWeek> {
  const weeks = new Map<string, WorkerWeek>()
  for (const { worker, atMs, hours } of sheets) {
    const name = `${worker} ${atMs}`
    const known = weeks.get(name)
    if (known) known.hours += hours
    else weeks.set(name, { worker, hours })
  }
  return weeks
}
