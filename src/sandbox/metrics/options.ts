/** What the contract leaves open about the recruitment metrics: every choice in one object. */
import type { ContractOptions } from '../options/contract-options.ts'

export interface MetricOptions {
  /** Of the quartiles, the median included: Hyndman and Fan's types 7, 6, 5, 8 and 2, or the nearest rank. */
  readonly quantiles: 'type7' | 'type6' | 'type5' | 'type8' | 'type2' | 'nearestRank'
  /** From approved to accepted: parts of days, whole days of 24 hours, or midnights passed. */
  readonly days: 'fractional' | 'floor' | 'ceil' | 'round' | 'calendarUtc' | 'calendarLondon'
  /** What is counted: the answer of every agency, or the first or the last one of each requisition. */
  readonly acceptance: 'perAgency' | 'earliest' | 'latest'
  /** Whether a value exactly on a bound of the outlier rule is kept. */
  readonly bounds: 'inclusive' | 'exclusive'
  /** Groups with fewer values than this keep all of them, and have null bounds. */
  readonly leastForRule: number
  readonly weekStart: 'monday' | 'sunday' | 'saturday'
  /** `2026-W07`, the ISO week in which the fourth day of the week lies; or the date of its first day. */
  readonly weekKey: 'isoWeek' | 'firstDay'
  /** `2026-02`, or the first day of the month as a date. */
  readonly monthKey: 'yearMonth' | 'firstDay'
  /** How a company, project or agency stands in `group`. */
  readonly refKey: 'ref' | 'id' | 'name'
  /** Where days, weeks and months begin: in `from` and `to`, in groups, and in the dates of rows. */
  readonly zone: string
  readonly from: ContractOptions['from']
  readonly to: ContractOptions['to']
  /** Whether a week of exactly the threshold counts as over it. */
  readonly threshold: 'over' | 'at'
  readonly requisitionStatuses: readonly string[]
  readonly timesheetStatuses: readonly string[]
  /** What is added up of a timesheet; `hoursField` of the answer. */
  readonly hoursField: 'netHours' | 'timelogHours'
  /** Decimals of days and hours; null leaves them as they are computed. */
  readonly decimals: number | null
}

/** As the options say: those of the metrics, and those that all filters by day have in common. */
export function metricOptions(options: ContractOptions): MetricOptions {
  return {
    quantiles: options.quantiles,
    days: options['fill-days'],
    acceptance: options.acceptance,
    bounds: options['outlier-bounds'],
    leastForRule: options['outlier-least'],
    weekStart: options['week-start'],
    weekKey: options['week-key'],
    monthKey: options['month-key'],
    refKey: options['group-ref'],
    zone: options['day-zone'],
    from: options.from,
    to: options.to,
    threshold: options.threshold,
    requisitionStatuses: options['fill-statuses'],
    timesheetStatuses: options['hours-statuses'],
    hoursField: options['hours-field'],
    decimals: options.decimals === 'none' ? null : options.decimals,
  }
}

export function rounded(value: number, { decimals }: Pick<MetricOptions, 'decimals'>): number {
  if (decimals === null) return value
  const factor = 10 ** decimals
  return Math.round(value * factor) / factor
}
