/** Alterations of SQL that change nothing for a reason that the words around them do not show. */
import { readFileSync } from 'node:fs'
import type { Equivalent, Known } from '../known.ts'
import { mutantsOf } from '../sql/mutants.ts'
import { placeOf } from '../sql/place.ts'

/** Alterations of a file that take the same away and put the same in its place. */
interface Alike {
  readonly file: string
  /** In a word, what is altered; and what stands in its place. */
  readonly before: string | RegExp
  readonly after: string
  /** What the altered line shows; absent: all of the file. */
  readonly shown?: RegExp
  readonly reason: string
}

const alike = (
  file: string,
  [before, after, shown]: readonly [string | RegExp, string, RegExp?],
  reason: string,
): Alike => ({ file: `sql/${file}.sql`, before, after, reason, ...(shown && { shown }) })

const union = (file: string, reason: string, shown?: RegExp): Alike =>
  alike(file, shown ? ['all', '', shown] : ['all', ''], reason)

const leftJoin = (file: string, shown: RegExp, reason: string): Alike =>
  alike(file, ['inner', 'left', shown], reason)

const ownWords = 'Each part has at most one row of a record, in words of its own.'
const everyResource = 'The part resource has every resource.'
const everyNumber = 'Everything that is named has its number.'
const noHistory = 'A record without history has one version, which is no change.'
const currentLast = 'Only puts the current version behind the others.'
const oneDefinition = 'There is always one definition in force.'

/** Rows that stand twice do not count twice, or none does. */
const unions: readonly Alike[] = [
  union('mart/access_review', 'Only the latest moment of a user is taken.'),
  union('mart/accrual_month_end', 'Each month end is in one of the two, once.'),
  union('mart/compliance_register', 'The kind of obligation and its place are a key.'),
  union('mart/headcount_total', 'A place is once in each grouping; equal rows of figures are all zero.'),
  union('mart/headcount_weekly', 'A week and place is once in each part; equal rows are all zero.'),
  union('mart/status_change_daily', 'A version that stands twice has the state of the one before it.'),
  union('mart/timesheet_cycle', 'A version that stands twice has the state of the one before it.'),
  union('mart/time_to_fill', 'Each grouping has another name.'),
  union('mart/workers_over_hours', 'Each grouping has another name, and each threshold other hours.'),
  union('part/groupings', 'Each grouping has another name.'),
  union('part/perspective', 'Each row is another.'),
  union(
    'part/incomplete_resource',
    'Each reason has words of its own; of equal numbers in quarantine one is compared.',
  ),
  union('check/dates_in_order', ownWords),
  union('check/money_identities', ownWords),
  union('check/mart_headcount_hours', ownWords),
  union('check/mart_lost_totals', ownWords, /ended assignments/),
  union('check/mart_labour_totals', ownWords, /pending/),
]

const joins: readonly Alike[] = [
  leftJoin('mart/headcount_weekly', /left join place/, everyNumber),
  leftJoin(
    'mart/headcount_total',
    /left join (place|worker_number|place_group|group_number) as/,
    everyNumber,
  ),
  leftJoin('mart/worker_week', /left join (place|worker_number)\b/, everyNumber),
  leftJoin('mart/worker_week', /= l\.timesheet_id and not s\.ends/, 'Only such timesheets are in logged.'),
  leftJoin('mart/overtime_uplift', /left join total_basis/, 'Every company with timesheets has a basis.'),
  leftJoin('mart/time_to_fill', /left join definition/, oneDefinition),
  leftJoin('mart/workers_over_hours', /left join definition/, oneDefinition),
  leftJoin('part/metric_definitions', /left join \(select false/, 'One of the two rows always fits.'),
  leftJoin('check/records_refused', /left join resource/, everyResource),
  leftJoin('check/resources_complete', /left join resource/, everyResource),
  leftJoin('check/rows_match_total', /left join resource/, everyResource),
  leftJoin('check/lists_have_rows', /left join resource/, everyResource),
]

/** The greatest of equal values is the least. */
const greatest: readonly Alike[] = [
  alike('mart/time_to_fill_detail', ['max', 'min', /min\(case/], 'A cell has one group of each grouping.'),
  alike('mart/time_to_fill_detail', ['max', 'min', /min\(bounded\.bounds/], 'A cell has one definition.'),
  alike(
    'mart/time_to_fill_detail',
    ['max', 'min', /min\(judged\.(reference|company_id|project_id)/],
    'These are columns of the requisition.',
  ),
  alike(
    'mart/time_to_fill_detail',
    ['min', 'max', /max\(judged\.approved_at/],
    'This is a column of the requisition.',
  ),
  alike('mart/assignment_tenure', ['min', 'max', /n\.week_number = t/], 'Each week has another number.'),
  alike('mart/assignment_tenure', ['max', 'min', /n\.week_number = t/], 'Each week has another number.'),
  alike('mart/expense_summary', ['max', 'min', /category_group/], 'A category has one group.'),
  alike('mart/supplier_scorecard', ['min', 'max', /r\.company_id/], 'A requisition has one company.'),
  alike('mart/payment_ageing', ['max', 'min', /d\.month_end_date/], 'A month has one end.'),
  alike(
    'mart/payment_ageing',
    ['bool_and', 'bool_or', /is_payment_seen/],
    'It is the same for a perspective and company.',
  ),
  alike(
    'mart/spend_concentration',
    ['max', 'min', /min\(r\.agency_spend/],
    'It is a sum of the whole group.',
  ),
  alike('mart/invoice_match', ['max', 'min', /b\.shown_basis/], 'Only one is in the first place.'),
  alike('part/credited_invoice', ['max', 'min'], 'Only one is in the first place.'),
  alike(
    'part/incomplete_resource',
    ['max', 'min', /min\(t\.(records|percent|frozen)\)/],
    'Only one run is in the first place.',
  ),
  alike(
    'part/over_hours_figures',
    ['max', 'min', /min\(grouped\./],
    'A group has one value of each of its keys.',
  ),
  alike(
    'part/time_to_fill_outliers',
    ['max', 'min', /min\(keyed\./],
    'A group has one value of each of its keys.',
  ),
]

const sparing: readonly Alike[] = [
  alike('mart/status_change_daily', [/^\w+ in \(/, 'true'], noHistory),
  alike('mart/timesheet_cycle', [/^timesheet_id in \(/, ''], noHistory),
  alike('mart/status_change_daily', ['1', '2', /2 as is_current/], currentLast),
  alike('mart/timesheet_cycle', ['1', '2', /2 as is_current/], currentLast),
  alike('mart/worker_week', [/^and not s\.ends_on_sunday/, ''], 'Only such timesheets are in logged.'),
  alike('mart/worker_week', ['>', '>=', /having count/], 'A single timesheet is the sum of itself.'),
  alike(
    'mart/labour_spend_weekly',
    [/^and \(l\.emp_total_value is not null/, ''],
    'A timelog without these values adds nothing to them.',
  ),
  alike('mart/worker_week', ['1000', '1001'], 'The calendar has 835 weeks.'),
  alike(
    'mart/assignment_outcome',
    [/^and t\.week_ending_date is not null/, '', /where not t\.is_deleted group/],
    'A missing week is followed by none within 28 days.',
  ),
  alike(
    'mart/headcount_total',
    [/^e\.start_date is not null and/, ''],
    'No week is compared with a missing first day.',
  ),
  alike(
    'mart/headcount_weekly',
    ['e.start_date is not null', 'true'],
    'No week is compared with a missing first day.',
  ),
  alike(
    'mart/headcount_total',
    [/^and d\.date_day >= \(/, ''],
    'Earlier weeks have no assignment and no timesheet.',
  ),
  alike(
    'mart/headcount_weekly',
    [/^and d\.date_day >= c\.first_date/, ''],
    'Earlier weeks have no assignment and no timesheet.',
  ),
]

const methods = 'Added to the place by line, which these methods do not use.'

const parts: readonly Alike[] = [
  alike(
    'part/incomplete_resource',
    ['0', '1', /'none' as kind/],
    'Only what windows and scans of changes saw counts.',
  ),
  alike(
    'part/timesheet_submission',
    [/^and e\.record_id is not null/, ''],
    'An event of no record belongs to no timesheet.',
  ),
  alike(
    'part/timesheet_submission',
    [/^coalesce\(t\.(waiting_at|approved_at), /, '(t.waiting_at)'],
    'DuckDB, PostgreSQL and Spark take the least of what is there; not every engine does.',
  ),
  alike(
    'part/incomplete_resource',
    [/^coalesce\(w\.remembered_total/, '(w.remembered_total)'],
    'A missing total is not the greater one.',
  ),
  alike(
    'part/settled_week',
    [/^coalesce\(t\.net_hours, 0\)/, '(t.net_hours)'],
    'A sum leaves out what is missing.',
  ),
  alike(
    'part/settled_week',
    [/^and t\.week_ending_date is not null/, ''],
    'The Sunday of a missing week is before no day.',
  ),
  alike(
    'part/over_hours_figures',
    [/^distinct/, '', /select choice_number, place|select number, choice_number, place/],
    'The greatest of equal hours is one of them.',
  ),
  alike(
    'part/over_hours_figures',
    [/^and month\.place = long_week\.place/, ''],
    'A week ends in the same month everywhere, and the greatest of equal hours is one of them.',
  ),
  alike('part/time_to_fill_answers', ['0', '1', /'type2', 0\.5, 0\.5, 0, (1, 0|0, 1)/], methods),
  alike('part/time_to_fill_answers', ['0', '1', /'nearestRank', 1\.0, 0\.0, 0, (1, 0|0, 1)/], methods),
  alike('part/time_to_fill_answers', ['0', '1', /'floorIndex', 0\.0, 1\.0, 0, (1, 0|0, 1)/], methods),
]

export const alterationsAlike = [...unions, ...joins, ...greatest, ...sparing, ...parts]

const made = new Map<string, ReturnType<typeof mutantsOf>>()

export function equivalentsOf({ file, before, after, shown, reason }: Alike): readonly Equivalent[] {
  const sql = readFileSync(file, 'utf8')
  const mutants = made.get(file) ?? mutantsOf(sql)
  made.set(file, mutants)
  return mutants
    .filter(({ start, end, replacement }) => {
      const taken = sql.slice(start, end).trim()
      return replacement === after && (typeof before === 'string' ? taken === before : before.test(taken))
    })
    .map(mutant => placeOf(sql, mutant))
    .filter(({ replacement }) => !shown || shown.test(replacement))
    .map(({ line, replacement }) => ({ file, line, replacement, reason }))
}

export const known: Known = { equivalents: alterationsAlike.flatMap(equivalentsOf) }
