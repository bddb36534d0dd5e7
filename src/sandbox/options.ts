/**
 * The contract options: one for each point the contract leaves open, with the readings a service might have. The
 * values of `--option` and its help come from this table.
 */
import { UsageError } from '../lib/errors.ts'
import { choiceOf } from '../lib/text/nearest.ts'
import { isZone } from '../lib/zones.ts'

export interface Option<Value> {
  /** As help shows it. */
  readonly values: string
  readonly fallback: Value
  readonly meaning: string
  /** Undefined for text that is not one of its values. */
  readonly parse: (text: string) => Value | undefined
}

function oneOf<const Values extends readonly string[]>(
  values: Values,
  fallback: Values[number],
  meaning: string,
): Option<Values[number]> {
  const parse = (text: string) => values.find(value => value === text)
  return { values: values.join(', '), fallback, meaning, parse }
}

/** The chosen value of each option. */
type ChosenOptions<Options> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never
}

function fallbacks<Options extends Readonly<Record<string, Option<unknown>>>>(
  options: Options,
): ChosenOptions<Options> {
  const preset = Object.entries(options).map(([name, { fallback }]) => [name, fallback])
  return Object.fromEntries(preset) as ChosenOptions<Options>
}

/** A number from 0, never, to 1, always. */
function share(meaning: string): Option<number> {
  const parse = (text: string) => (/^(0|1|0?\.\d+|1\.0+)$/.test(text) ? Number(text) : undefined)
  return { values: '0 to 1', fallback: 0, meaning, parse }
}

function zone(meaning: string): Option<string> {
  const parse = (text: string) => (isZone(text) ? text : undefined)
  return { values: 'Europe/London, +05:30, …', fallback: 'UTC', meaning, parse }
}

/** Some of these values, comma-separated. */
function someOf<const Values extends readonly string[]>(
  values: Values,
  fallback: readonly Values[number][],
  meaning: string,
): Option<readonly Values[number][]> {
  const parse = (text: string) => {
    const parts = text.split(',').map(part => values.find(value => value === part))
    return parts.every(part => part !== undefined) ? parts : undefined
  }
  return { values: `some of ${values.join(', ')}`, fallback, meaning, parse }
}

/** A whole number from 0 to a maximum. */
function countTo(largest: number, fallback: number, meaning: string): Option<number> {
  const parse = (text: string) =>
    /^\d{1,9}$/.test(text) && Number(text) <= largest ? Number(text) : undefined
  return { values: `0 to ${largest}`, fallback, meaning, parse }
}

function orNone<Value>({ values, meaning, parse }: Option<Value>): Option<Value | 'none'> {
  return {
    values: `${values}, none`,
    fallback: 'none',
    meaning,
    parse: text => (text === 'none' ? text : parse(text)),
  }
}

/** Options of the recruitment metrics. */
export const metricOptions = {
  quantiles: oneOf(
    ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank'],
    'type7',
    'quartiles and medians: a type of Hyndman and Fan, or the nearest rank',
  ),
  'fill-days': oneOf(
    ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon', 'calendarZone'],
    'fractional',
    'days from approved to accepted: with fractions, full 24 hours, or midnights passed',
  ),
  'fill-negative': oneOf(
    ['counted', 'zero', 'dropped'],
    'counted',
    'an acceptance before the approval: negative days, zero days, or not counted',
  ),
  acceptance: oneOf(
    ['perAgency', 'earliest', 'latest'],
    'perAgency',
    'what time to fill counts: the answer of every agency, or one of each requisition',
  ),
  'outlier-bounds': oneOf(
    ['inclusive', 'exclusive'],
    'inclusive',
    'whether a value on a bound of the outlier rule is kept',
  ),
  'outlier-min': countTo(100, 1, 'groups with fewer values than this keep all of them, and have null bounds'),
  'week-start': oneOf(
    ['monday', 'sunday', 'saturday'],
    'monday',
    'the first day of the weeks of groupBy=week',
  ),
  'week-key': oneOf(['isoWeek', 'firstDay'], 'isoWeek', 'a week in `group`: 2026-W07, or its first day'),
  'month-key': oneOf(['yearMonth', 'firstDay'], 'yearMonth', 'a month in `group`: 2026-02, or its first day'),
  'group-ref': oneOf(
    ['ref', 'id', 'name'],
    'ref',
    'a company, project or agency in `group`: {id, name}, or one of them',
  ),
  'worker-week': oneOf(
    ['weekEnding', 'calendarWeek'],
    'weekEnding',
    'timesheets of a worker that are one week: those of one week ending, or of one calendar week',
  ),
  threshold: oneOf(['over', 'at'], 'over', 'whether a week of exactly the threshold counts: no, or yes'),
  'fill-statuses': someOf(
    ['raised', 'approved', 'filled', 'cancelled', 'rejected'],
    ['raised', 'approved', 'filled', 'cancelled', 'rejected'],
    'requisitions that time to fill counts',
  ),
  'hours-statuses': someOf(
    ['pending', 'pending_approval', 'approved', 'cancelled', 'absent'],
    ['approved'],
    'timesheets whose hours count',
  ),
  'hours-field': oneOf(
    ['netHours', 'timelogHours'],
    'netHours',
    'the hours of a timesheet: its netHours, or the totals of its timelogs',
  ),
  decimals: orNone(countTo(6, 0, 'decimals of days and hours; none does not round')),
}

export const contractOptions = {
  from: oneOf(['inclusive', 'exclusive'], 'inclusive', 'whether the day of `from` belongs to the range'),
  to: oneOf(
    ['inclusive', 'midnight', 'exclusive'],
    'inclusive',
    'how much of the day of `to` belongs to the range: all, its first instant, or none',
  ),
  'day-zone': zone(
    'the zone in which `from` and `to` are days, and in which the metrics count days, weeks and months',
  ),
  ties: oneOf(
    ['stable', 'random'],
    'stable',
    'records with equal sort keys: in one order, or in a random one at each request',
  ),
  absent: oneOf(
    ['mixed', 'null', 'omitted', 'random'],
    'mixed',
    'optional fields without a value: as the records have them, null, left out, or either',
  ),
  extra: share('how many objects carry a field that the contract does not name'),
  'extra-in': oneOf(
    ['records', 'nested', 'envelope', 'everywhere'],
    'records',
    'which objects carry them: records, objects inside them, the envelope and meta, or all',
  ),
  'rate-window': oneOf(
    ['fixed', 'sliding'],
    'fixed',
    'the minute of the rate limit: of the clock, or the last 60 seconds',
  ),
  'retry-after': oneOf(['seconds', 'date', 'absent'], 'seconds', 'how a 429 says when to retry'),
  ...metricOptions,
} as const satisfies Readonly<Record<string, Option<unknown>>>

export type ContractOptions = ChosenOptions<typeof contractOptions>

export const optionsOf = (chosen: Partial<ContractOptions> = {}): ContractOptions => ({
  ...fallbacks(contractOptions),
  ...chosen,
})

/** Parses `name=value`. Throws a UsageError that suggests the nearest name or lists the values. */
export function parseOption(text: string): Partial<ContractOptions> {
  const [name = '', value = ''] = text.split(/=(.*)/s)
  const option = (contractOptions as Readonly<Record<string, Option<unknown>>>)[name]
  if (!option || !Object.hasOwn(contractOptions, name))
    throw unknownName('option', name, Object.keys(contractOptions))
  const parsed = option.parse(value)
  if (parsed === undefined) {
    throw new UsageError({ what: `option ${name} does not take "${value}"`, next: `give ${option.values}` })
  }
  return { [name]: parsed }
}

export function unknownName(
  kind: 'option' | 'event type',
  name: string,
  names: readonly string[],
): UsageError {
  return new UsageError({ what: `there is no ${kind} ${name}`, next: choiceOf(name, names) })
}
