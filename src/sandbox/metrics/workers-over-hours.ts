/** Workers over hours: the weeks in which workers did more hours than a threshold. */
import { closed, type NamedSchema, number, refSchema, text, whole } from '../declare/json-schema.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import { rounded } from './figures.ts'
import { type GroupQuery, grouped, groupSchema, type Member } from './groups.ts'
import type { MeasuredTimesheet } from './measured.ts'

export const workersOverHoursRow: NamedSchema = {
  name: 'WorkersOverHoursRow',
  schema: closed(
    {
      group: groupSchema,
      values: closed({
        thresholdHours: number,
        hoursField: text,
        workerWeeks: whole,
        workersOverThreshold: whole,
        distinctWorkersOverThreshold: whole,
        totalHours: number,
        averageWeeklyHours: number,
        maxWeeklyHours: number,
      }),
    },
    { required: [], description: 'Weeks in which workers did more hours than the threshold.' },
  ),
  uses: [refSchema],
}

interface HoursQuery extends GroupQuery {
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

function sheetOf(timesheet: MeasuredTimesheet, field: ContractOptions['hours-field']): Sheet {
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

interface WorkerWeek {
  readonly worker: string
  hours: number
}

function values(sheets: readonly Sheet[], threshold: number, options: ContractOptions) {
  const weeks = [...workerWeeks(sheets).values()]
  const over = weeks.filter(({ hours }) =>
    options.threshold === 'over' ? hours > threshold : hours >= threshold,
  )
  const totalHours = weeks.reduce((sum, { hours }) => sum + hours, 0)
  return {
    thresholdHours: threshold,
    hoursField: options['hours-field'],
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
