/**
 * The contract options: one for each point the contract leaves open, with the readings a service might have. The
 * values of `--option`, its help and the table in docs/sandbox.md come from this table.
 */
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { type Chosen, countTo, fallbacks, type Option, oneOf, orNone, share, someOf, zone } from './option.ts'

/** Those about the recruitment metrics. */
export const metricOptions = {
  quantiles: oneOf(
    ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank'],
    'type7',
    'quartiles and medians: a type of Hyndman and Fan, or the nearest rank',
  ),
  'fill-days': oneOf(
    ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon', 'calendarZone'],
    'fractional',
    'from approved to accepted: parts of days, whole days of 24 hours, or midnights passed',
  ),
  'fill-negative': oneOf(
    ['kept', 'zero', 'dropped'],
    'kept',
    'an acceptance before the approval: fewer than no days, none, or not counted',
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
  'outlier-least': countTo(
    100,
    1,
    'groups with fewer values than this keep all of them, and have null bounds',
  ),
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
  decimals: orNone(countTo(6, 0, 'decimals of days and hours; none leaves them as they are')),
}

export const contractOptions = {
  from: oneOf(['inclusive', 'exclusive'], 'inclusive', 'whether the day of `from` belongs to the range'),
  to: oneOf(
    ['inclusive', 'midnight', 'exclusive'],
    'inclusive',
    'whether the day of `to` belongs to the range, or its first instant, or nothing of it',
  ),
  'day-zone': zone(
    'the zone in which `from` and `to` are days, and in which the metrics count days, weeks and months',
  ),
  ties: oneOf(
    ['stable', 'random'],
    'stable',
    'records with equal sort keys: in one order, or in another at each request',
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
    'which objects may: records, objects inside them, the envelope with its meta, or all of these',
  ),
  'rate-window': oneOf(
    ['fixed', 'sliding'],
    'fixed',
    'the minute of the rate limit: of the clock, or the last 60 seconds',
  ),
  'retry-after': oneOf(['seconds', 'date', 'absent'], 'seconds', 'how a 429 says when to come back'),
  ...metricOptions,
} as const satisfies Readonly<Record<string, Option<unknown>>>

export type ContractOptions = Chosen<typeof contractOptions>

export const optionsOf = (chosen: Partial<ContractOptions> = {}): ContractOptions => ({
  ...fallbacks(contractOptions),
  ...chosen,
})

/** Parses `name=value`. Throws a UsageError that suggests the nearest name or lists the values. */
export function parseOption(text: string): Partial<ContractOptions> {
  const [name, value] = pairOf(text)
  const option = (contractOptions as Readonly<Record<string, Option<unknown>>>)[name]
  if (!option || !Object.hasOwn(contractOptions, name))
    throw unknownName('option', name, Object.keys(contractOptions))
  const parsed = option.parse(value)
  if (parsed === undefined) {
    throw new UsageError({ what: `option ${name} does not take "${value}"`, next: `give ${option.values}` })
  }
  return { [name]: parsed }
}

export function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function unknownName(
  kind: 'option' | 'quirk' | 'fault' | 'resource' | 'event type' | 'event fault',
  name: string,
  names: readonly string[],
): UsageError {
  return new UsageError({ what: `there is no ${kind} ${name}`, next: choiceOf(name, names) })
}
