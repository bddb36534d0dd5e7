/** What stands on a limit of a check, or just beside it: an error, or none. */
import { type Planted, sheet } from './planting.ts'

/** Expenses created on each of the days before the second of November, 30 unless `counts` says otherwise. */
const created = (counts: Readonly<Record<number, number>>): readonly string[] => [
  `delete from star.fact_expense`,
  `insert into star.fact_expense (expense_id, created_at, is_deleted)
   select 'planted-' || cast(day.n as text) || '-' || cast(one.n as text),
     cast('2026-11-02T12:00:00Z' as timestamptz) - day.n * interval '1 day', false
   from generate_series(0, 100) as day(n) cross join generate_series(1, 200) as one(n)
   where one.n <= case day.n ${Object.entries(counts)
     .map(([day, n]) => `when ${day} then ${n}`)
     .join(' ')} else 30 end`,
]

/** The weeks before differ from day to day of the week by 10, or their deviation is 10.44. */
const unsteady = (weekday: number): Readonly<Record<number, number>> =>
  Object.fromEntries(
    Array.from({ length: 12 }, (_, week) => [weekday + 7 * (week + 1), week % 2 === 0 ? 20 : 40]),
  )

const volumes: readonly (readonly [rows: number, counts: Readonly<Record<number, number>>])[] = [
  // Today is not over; 20 more and 20 fewer are found, 19 more are not.
  [3, { 0: 200, 2: 50, 3: 10, 4: 49, 7: 50 }],
  // A spike of eight days ago belongs to what is usual, and so does one of 91 days ago.
  [0, { 1: 50, 8: 200, 7: 50, 91: 200 }],
  // One of 92 days ago does not.
  [1, { 1: 50, 92: 200 }],
  // Four deviations are 41.78.
  [1, { ...unsteady(5), ...unsteady(6), 5: 71, 6: 72 }],
]

const emptied = `update ops.watermark set empty_since = moved_at where resource = 'expenses'`

const billed = `update mart.unbilled_accrual set timesheet_id = (
  select min(b.timesheet_id) from star.bridge_invoice_timesheet as b
  inner join star.fact_invoice as i on i.invoice_id = b.invoice_id where i.invoice_type = 'supplierToClient')`

const refused = `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason,
    fetches, failed_fetches, changes, exposure_days, signals)
  values ('assignments', 'guarded', 'star.fact_timesheet.assignment_id', now(), 'refused', now(),
    'the key may not read this (403)', 0, 1, 0, 0, 0)`

const access = (resource: string, ...states: readonly string[]): readonly string[] => [
  `delete from ops.key_access where resource = '${resource}'`,
  ...states.map(
    (state, place) =>
      `insert into ops.key_access (resource, key_kind, way, state, checked_at)
       values ('${resource}', 'kind ${place}', 'id', '${state}', now())`,
  ),
]

const ofOne = `update ops.company_currency set currency = 'unknown'`
const approved = `(select min(timesheet_id) from star.fact_timesheet where status = 'approved' and not is_deleted)`

const forecast = (change: string): string =>
  `update mart.purchase_order_forecast set ${change} where purchase_order_reference_key =
   (select min(purchase_order_reference_key) from mart.purchase_order_forecast)`

/** Without a number of rows, at least one. */
type Limit = readonly [subject: string, rows: number | undefined, statements: readonly string[]]

const buckets = [
  ...['wd_basic', 'wd_overtime', 'wd_nightwork', 'we_nightwork', 'bank_holiday', 'bank_holiday_night'],
  ...['saturday', 'sunday', 'saturday_nightwork', 'sunday_nightwork'],
]

/** Another amount in each bucket of a timesheet with piece work, whose total differs from their sum by as much as before, or by 1 more. */
function amounts(of: 'pay' | 'charge'): readonly Limit[] {
  const names = buckets.map(name => `${of}_${name}`)
  const before = names.map(name => `coalesce(${name}, 0)`).join(' + ')
  const changed = (sum: string, amountAt: (place: number) => string): string =>
    sheet(
      [
        `${of}_total = ${of}_total - (${before}) + ${sum}`,
        ...names.map((name, at) => `${name} = ${amountAt(at)}`),
      ].join(', '),
      `exists (select 1 from star.fact_piece_rate_entry as p
       where p.timesheet_id = x.timesheet_id and not p.is_deleted and p.total_pay_value > 1)`,
    )
  return [
    ['star.fact_timesheet', 0, [changed('1023', at => `${2 ** at}`)]],
    ['star.fact_timesheet', 0, [changed('0', () => 'null')]],
    ['star.fact_timesheet', 1, [changed('1', () => 'null')]],
  ]
}

/** All totals include the piece work. */
const withPieces = `update star.fact_timesheet set pay_total = pay_total + (
  select coalesce(sum(p.total_pay_value), 0) from star.fact_piece_rate_entry as p
  where p.timesheet_id = fact_timesheet.timesheet_id and not p.is_deleted)`

/** Of the first timesheet with piece work. */
const withPiece = `(select min(p.timesheet_id) from star.fact_piece_rate_entry as p
  where not p.is_deleted and p.total_pay_value > 1)`
const more = `update star.fact_timesheet set pay_total = pay_total + 5 where timesheet_id = ${withPiece}`
const deletedPiece = `insert into star.fact_piece_rate_entry (piece_rate_entry_id, timesheet_id, total_pay_value, is_deleted)
  select 'planted', ${withPiece}, 5, true`

const limits: Readonly<Record<string, readonly Limit[]>> = {
  daily_volume: volumes.map(([rows, counts]) => ['star.fact_expense', rows, created(counts)]),
  currencies_known: [
    ['star.fact_timesheet', 0, [ofOne]],
    [
      'star.fact_timesheet',
      0,
      [ofOne, `update star.fact_timesheet set company_id = '-1' where timesheet_id = ${approved}`],
    ],
    [
      'star.fact_timesheet',
      0,
      [
        ofOne,
        `update star.fact_timesheet set company_id = 'other', is_deleted = true where timesheet_id = ${approved}`,
      ],
    ],
    [
      'star.fact_timesheet',
      0,
      [
        ofOne,
        `update star.fact_timesheet set company_id = 'other', status = 'pending' where timesheet_id = ${approved}`,
      ],
    ],
  ],
  lists_have_rows: [
    ['star.fact_expense', 0, [emptied, `delete from star.fact_expense`]],
    [
      'star.fact_expense',
      1,
      [
        emptied,
        `delete from star.fact_expense where expense_id <> (select min(expense_id) from star.fact_expense)`,
      ],
    ],
  ],
  mart_accrual_rows: [
    ['mart.unbilled_accrual', 0, [billed, `update star.fact_invoice set is_deleted = true`]],
    ['mart.unbilled_accrual', 0, [billed, `update star.bridge_invoice_timesheet set is_deleted = true`]],
    ['mart.unbilled_accrual', 0, [billed, `update star.fact_invoice set invoice_type = 'supplierToMsp'`]],
    [
      'mart.unbilled_accrual',
      undefined,
      [
        billed,
        `update star.fact_invoice set invoice_type = null`,
        `update mart.unbilled_accrual set is_billed_to_msp = true`,
      ],
    ],
  ],
  mart_forecast_adds_up: [
    [
      'mart.purchase_order_forecast',
      1,
      [
        forecast(
          'forecast_value = spent_value - 1, variance_value = order_value - spent_value + 1, weekly_spend_value = 0',
        ),
      ],
    ],
    [
      'mart.purchase_order_forecast',
      0,
      [
        forecast(
          'forecast_value = spent_value - 1, variance_value = order_value - spent_value + 1, weekly_spend_value = -1',
        ),
      ],
    ],
  ],
  mart_lost_totals: [
    ['mart.lost_placements', 0, [`update star.fact_submission set submitted_at = null`]],
    [
      'mart.lost_placements',
      0,
      [
        `update star.fact_requisition set created_at = null where requisition_id in (select requisition_id from star.fact_submission where submitted_at is not null and is_rejected) and requisition_id not in (select requisition_id from star.fact_submission where submitted_at is null and is_rejected)`,
      ],
    ],
    [
      'mart.lost_placements',
      1,
      [
        `update star.fact_submission set submitted_at = null`,
        `update star.fact_requisition set created_at = null`,
      ],
    ],
    ['mart.lost_placements', 0, [`update star.fact_assignment set ended_at = null`]],
    ['mart.lost_placements', 0, [`update star.fact_assignment set end_date = null`]],
    [
      'mart.lost_placements',
      0,
      [`update star.fact_assignment set ended_at = null, end_date = null, completed_date = start_date`],
    ],
    [
      'mart.lost_placements',
      1,
      [`update star.fact_assignment set ended_at = null, end_date = null, completed_date = null`],
    ],
  ],
  money_identities: [
    ...amounts('pay'),
    ['star.fact_timesheet', 0, [withPieces, deletedPiece]],
    ['star.fact_timesheet', 1, [withPieces, more]],
    // Whose piece work is worth nothing is paid by the hour.
    [
      'star.fact_timesheet',
      0,
      [
        more,
        `update star.fact_piece_rate_entry set total_pay_value = null where timesheet_id = ${withPiece}`,
      ],
    ],
  ],
  timesheet_buckets: [...amounts('pay'), ...amounts('charge')],
  records_refused: [
    ['star.fact_assignment', 1, [refused, ...access('assignments')]],
    ['star.fact_assignment', 0, [refused, ...access('assignments', 'refused', 'not for this kind of key')]],
    ['star.fact_assignment', 1, [refused, ...access('assignments', 'refused', 'readable')]],
    [
      'star.fact_assignment',
      0,
      [refused, ...access('assignments', 'refused'), ...access('trades', 'readable')],
    ],
  ],
}

export const plantedOnLimits: readonly Planted[] = Object.entries(limits).flatMap(([check, all]) =>
  all.map(([subject, rows, statements]) => ({
    check,
    subject,
    statements,
    ...(rows === undefined ? {} : { rows }),
  })),
)
