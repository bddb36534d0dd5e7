/** The options about the recruitment metrics, one for each choice that the contract leaves open. */
import { countTo, oneOf, orNone, someOf } from './option.ts'

export const metricOptions = {
  quantiles: oneOf(
    ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank'],
    'type7',
    'quartiles and medians: a type of Hyndman and Fan, or the nearest rank',
  ),
  'fill-days': oneOf(
    ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon'],
    'fractional',
    'from approved to accepted: parts of days, whole days of 24 hours, or midnights passed',
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
