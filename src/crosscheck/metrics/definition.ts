/** Declares what the contract leaves open about the recruitment metrics: a rule for each choice, with its interpretations. */
import { offsetName } from '../../lib/zones.ts'

/** One zone for each common clock rule, tried first: the first zone that agrees with all answers is chosen. */
const defaultZones = [
  ...['UTC', 'Europe/London', 'Europe/Dublin', 'Europe/Paris', 'Europe/Berlin', 'Europe/Athens'],
  ...['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Sao_Paulo'],
  ...['Asia/Dubai', 'Asia/Singapore', 'Asia/Tokyo', 'Australia/Sydney', 'Pacific/Auckland'],
]

const quarters = (from: number, to: number): string[] =>
  Array.from({ length: (to - from) / 15 + 1 }, (_, index) => offsetName(from + index * 15))

/**
 * Time zones in which a service may count days: every IANA zone, then plain offsets from -12:00 to +14:00 by the
 * quarter of an hour.
 */
export const allZones: readonly string[] = [
  ...new Set([...defaultZones, ...Intl.supportedValuesOf('timeZone'), ...quarters(-12 * 60, 14 * 60)]),
]

const quantileMethods = ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank', 'floorIndex'] as const
type QuantileMethod = (typeof quantileMethods)[number]

/** A definition in force. Its columns in SQL are those of the ledger's metric_definition. */
export interface MetricDefinition {
  /** Of the quartiles behind the bounds: Hyndman and Fan's types, the nearest rank, or the value at floor(n × p). */
  readonly quantiles: QuantileMethod
  /** Of the median and the quartiles that are shown. */
  readonly valueQuantiles: QuantileMethod
  readonly days: 'fractional' | 'floor' | 'ceil' | 'round' | 'calendarUtc' | 'calendarLondon' | 'calendarZone'
  /** Acceptances before the approval: as they are, as no days, or not counted at all. */
  readonly negativeDays: 'counted' | 'zero' | 'dropped'
  /** Which answers count: that of every agency, or the first or last one of each requisition. */
  readonly acceptance: 'perAgency' | 'earliest' | 'latest'
  /** Whether a value exactly on a bound is kept. */
  readonly bounds: 'inclusive' | 'exclusive'
  /** Groups with fewer values have no bounds and keep all values. */
  readonly minForRule: number
  readonly requisitionStatuses: readonly string[]
  readonly timesheetStatuses: readonly string[]
  /** Companies that count: those that track stages; null means all. */
  readonly companies: readonly string[] | null
  /** Where days, weeks and months begin: an IANA name, or an offset such as +05:30. */
  readonly zone: string
  readonly from: 'inclusive' | 'exclusive'
  /** Whether a range includes the day of `to`, only its first instant, or none of it. */
  readonly to: 'inclusive' | 'midnight' | 'exclusive'
  /** The hours that are added up, in the service's words: net hours of a timesheet, or totals of its timelogs. */
  readonly hoursField: 'netHours' | 'timelogHours'
  readonly weekStart: 'monday' | 'sunday' | 'saturday'
  /** Whether a week of exactly the threshold counts as over it. */
  readonly threshold: 'over' | 'at'
  /** What is compared with the threshold: all timesheets of a worker with one week ending, each by itself, or all of a worker that end in one calendar week. */
  readonly workerWeek: 'worker' | 'timesheet' | 'calendarWeek'
  /** Decimals of days and of hours; null leaves them as computed. */
  readonly daysDecimals: number | null
  readonly hoursDecimals: number | null
  /** How keys are written in `group`; no figure depends on it. */
  readonly weekKey: 'isoWeek' | 'firstDay'
  readonly monthKey: 'yearMonth' | 'firstDay'
  readonly refKey: 'ref' | 'id' | 'name'
}

const requisitionStatuses = ['raised', 'approved', 'filled', 'cancelled', 'rejected'] as const

export const definitionDefaults: MetricDefinition = {
  quantiles: 'type7',
  valueQuantiles: 'type7',
  days: 'fractional',
  negativeDays: 'counted',
  acceptance: 'perAgency',
  bounds: 'inclusive',
  minForRule: 1,
  requisitionStatuses,
  timesheetStatuses: ['approved'],
  companies: null,
  zone: 'UTC',
  from: 'inclusive',
  to: 'inclusive',
  hoursField: 'netHours',
  weekStart: 'monday',
  threshold: 'over',
  workerWeek: 'worker',
  daysDecimals: null,
  hoursDecimals: null,
  weekKey: 'isoWeek',
  monthKey: 'yearMonth',
  refKey: 'ref',
}

export type DefinitionRule = keyof MetricDefinition

/** Every selection of the values, the default first and then the larger ones. */
function subsets(all: readonly string[], preferred: readonly string[]): readonly (readonly string[])[] {
  const some = all.reduce<string[][]>((lists, word) => lists.flatMap(list => [[...list, word], list]), [[]])
  const name = preferred.join()
  const larger = some.filter(list => list.length > 0).sort((left, right) => right.length - left.length)
  return [preferred, ...larger.filter(list => list.join() !== name)]
}

const decimals = [null, 0, 1, 2, 3, 4] as const

/** Interpretations tried in this order, the default first; rules without a list are read off the answers. */
export const candidates: {
  readonly [Name in Exclude<DefinitionRule, 'companies'>]: readonly MetricDefinition[Name][]
} = {
  quantiles: quantileMethods,
  valueQuantiles: quantileMethods,
  days: ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon', 'calendarZone'],
  negativeDays: ['counted', 'zero', 'dropped'],
  acceptance: ['perAgency', 'earliest', 'latest'],
  bounds: ['inclusive', 'exclusive'],
  minForRule: [1, 2, 3, 4, 5, 6, 8, 10],
  requisitionStatuses: subsets(requisitionStatuses, requisitionStatuses),
  timesheetStatuses: subsets(
    ['approved', 'pending_approval', 'pending', 'absent', 'cancelled'],
    ['approved'],
  ),
  zone: allZones,
  from: ['inclusive', 'exclusive'],
  to: ['inclusive', 'midnight', 'exclusive'],
  hoursField: ['netHours', 'timelogHours'],
  weekStart: ['monday', 'sunday', 'saturday'],
  threshold: ['over', 'at'],
  workerWeek: ['worker', 'timesheet', 'calendarWeek'],
  daysDecimals: decimals,
  hoursDecimals: decimals,
  weekKey: ['isoWeek', 'firstDay'],
  monthKey: ['yearMonth', 'firstDay'],
  refKey: ['ref', 'id', 'name'],
}

/** A definition with its id, which every figure computed with it carries. */
export interface DefinitionInForce {
  readonly definition: MetricDefinition
  /** `default`, or a hash of the choices. */
  readonly id: string
  /** Interpretations that calibration could not exclude, as JSON; for a rule without an entry all are possible. */
  readonly alive?: Readonly<Partial<Record<DefinitionRule, readonly string[]>>>
}

/** Whether calibration left an interpretation of a rule possible. */
export function isPossible({ alive }: DefinitionInForce, rule: DefinitionRule, value: unknown): boolean {
  return alive?.[rule]?.includes(JSON.stringify(value)) ?? true
}
