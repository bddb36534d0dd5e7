/** Errors planted in star, in its history and in the ledger. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { change, one, type Planted, sheet } from './planting.ts'

/** PostgreSQL keeps what DuckDB does without: its key goes first. */
const doubled = (engine: Engine['kind'], table: string, key: string): string[] => [
  ...(engine === 'postgres' ? [`alter table star.${table} drop constraint ${table}_pkey cascade`] : []),
  `insert into star.${table} select * from star.${table} where ${one(`star.${table}`, key)}`,
]

const backwards: readonly (readonly [table: string, key: string, early: string, late: string])[] = [
  ['star.fact_timesheet', 'timesheet_id', 'created_at', 'updated_at'],
  ['star.fact_timesheet', 'timesheet_id', 'start_at', 'end_at'],
  ['star.fact_timesheet', 'timesheet_id', 'created_at', 'approved_at'],
  ['star.fact_expense', 'expense_id', 'created_at', 'updated_at'],
  ['star.fact_expense', 'expense_id', 'created_at', 'approved_at'],
  ['star.fact_invoice', 'invoice_id', 'created_at', 'updated_at'],
  ['star.fact_invoice', 'invoice_id', 'created_at', 'confirmed_at'],
  ['star.fact_requisition', 'requisition_id', 'created_at', 'updated_at'],
  ['star.fact_requisition', 'requisition_id', 'planned_start_date', 'planned_end_date'],
  ['star.fact_requisition', 'requisition_id', 'created_at', 'approved_at'],
  ['star.fact_requisition_agency', 'requisition_agency_key', 'received_at', 'accepted_at'],
  ['star.fact_assignment', 'assignment_id', 'created_at', 'updated_at'],
  ['star.fact_assignment', 'assignment_id', 'start_date', 'end_date'],
  ['star.fact_credit_note', 'credit_note_id', 'created_at', 'updated_at'],
  ['star.dim_project', 'project_id', 'planned_start_date', 'planned_end_date'],
  ['star.dim_purchase_order', 'purchase_order_id', 'start_date', 'end_date'],
]

/** The later of the two becomes the earlier; a day has no hours to take away. */
const reversed = backwards.map(([table, key, early, late]) => {
  const before = early.endsWith('_date') ? `${early} - 1` : `${early} - interval '1 day'`
  return change(table, key, {
    set: `${late} = ${before}`,
    and: `x.${late} is not null and x.${early} is not null`,
  })
})

const addresses = [
  'jo.bloggs@example.com',
  'AB 12 34 56 C',
  'AB123456C',
  '12-34-56',
  '07700 900123',
  '+44 20 7946 0123',
]

const writtenInto = addresses.map(
  (text, place) =>
    `update star.dim_site set city = 'said: ${text}' where site_id =
     (select site_id from star.dim_site where site_id <> '-1' order by site_id limit 1 offset ${place})`,
)

const older = (hours: number): string =>
  `update ops.run set finished_at = finished_at - interval '${hours} hours'`

export const plantedInStar = (engine: Engine['kind']): readonly Planted[] => [
  {
    check: 'accepted_values',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [sheet(`status = 'mislaid'`)],
  },
  {
    check: 'allocated_hours',
    subject: 'star.fact_timelog_cost_code',
    rows: 1,
    statements: [
      change('star.fact_timelog_cost_code', 'timelog_cost_code_key', { set: 'hours = hours + 100' }),
    ],
  },
  {
    check: 'daily_volume',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [
      `insert into star.fact_timesheet (timesheet_id, created_at, is_deleted)
       select 'planted-' || cast(s.n as text), cast('2026-10-28T12:00:00Z' as timestamptz), false
       from generate_series(1, 200) as s(n)`,
    ],
  },
  {
    check: 'dates_plausible',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [
      sheet(`week_ending_at = '9999-12-31', week_ending_date = null`, 'x.week_ending_at is not null'),
    ],
  },
  { check: 'dates_in_order', subject: 'star.fact_timesheet', rows: backwards.length, statements: reversed },
  {
    check: 'engagement_types_known',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [sheet(`rate_type = 'umbrella'`)],
  },
  {
    check: 'history_has_current',
    subject: 'history.fact_timesheet',
    rows: 1,
    statements: [
      `insert into history.fact_timesheet (timesheet_id, valid_from, valid_to) values ('lost', '2026-01-01', '2026-01-02')`,
    ],
  },
  {
    check: 'history_in_order',
    subject: 'history.fact_timesheet',
    rows: 3,
    statements: [
      `insert into history.fact_timesheet (timesheet_id, valid_from, valid_to) values
       ('overlaps', '2026-01-01', '2026-01-03'), ('overlaps', '2026-01-02', '2026-01-04'),
       ('touches', '2026-01-01', '2026-01-02'), ('touches', '2026-01-02', '2026-01-04'),
       ('backwards', '2026-01-02', '2026-01-01'), ('endless', '2026-01-01', null)`,
    ],
  },
  {
    check: 'invoice_credit_notes',
    subject: 'star.fact_invoice',
    rows: 1,
    statements: [
      `delete from star.fact_credit_note where ${one('star.fact_credit_note', 'credit_note_id', 'x.subtotal > 1')}`,
    ],
  },
  {
    check: 'invoice_hours',
    subject: 'star.fact_invoice',
    rows: 1,
    statements: [
      change('star.fact_invoice', 'invoice_id', { set: 'net_hours = net_hours + 1', and: 'x.net_hours > 0' }),
    ],
  },
  {
    check: 'keys_unique',
    subject: 'star.dim_company',
    rows: 1,
    statements: doubled(engine, 'dim_company', 'company_id'),
  },
  {
    check: 'list_ids_unique',
    subject: 'star.fact_timelog',
    rows: 1,
    statements: [
      `insert into star.fact_timelog select * from star.fact_timelog where ${one('star.fact_timelog', 'timelog_id')}`,
    ],
  },
  {
    check: 'list_rows_missing',
    subject: 'star.fact_timelog',
    rows: 1,
    statements: [
      `delete from star.fact_timelog where ${one(
        'star.fact_timelog',
        'timelog_id',
        `x.timelog_ordinal = 1 and exists (select 1 from star.fact_timelog as y
         where y.timesheet_id = x.timesheet_id and y.timelog_ordinal = 2)`,
      )}`,
    ],
  },
  {
    check: 'list_rows_once',
    subject: 'star.fact_timelog',
    rows: 1,
    statements: [
      `insert into star.fact_timelog select * from star.fact_timelog where ${one('star.fact_timelog', 'timelog_id')}`,
    ],
  },
  {
    check: 'lists_have_rows',
    subject: 'star.fact_expense',
    rows: 1,
    statements: [`update ops.watermark set empty_since = moved_at where resource = 'expenses'`],
  },
  {
    check: 'money_identities',
    subject: 'star.fact_invoice',
    rows: 2,
    // Total is in two identities.
    statements: [change('star.fact_invoice', 'invoice_id', { set: 'total = total + 5' })],
  },
  {
    check: 'personal_data_in_star',
    subject: 'star.dim_site',
    rows: addresses.length,
    statements: writtenInto,
  },
  {
    check: 'piece_rate_lines',
    subject: 'star.fact_piece_rate_entry',
    rows: 1,
    statements: [change('star.fact_piece_rate_line', 'piece_rate_line_id', { set: 'units = units + 1' })],
  },
  { check: 'read_within_26_hours', subject: 'ops.run_resource', statements: [older(27)] },
  { check: 'read_within_50_hours', subject: 'ops.run_resource', statements: [older(51)] },
  {
    check: 'records_refused',
    subject: 'star.fact_assignment',
    rows: 1,
    statements: [
      `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason,
         fetches, failed_fetches, changes, exposure_days, signals)
       values ('assignments', 'guarded', 'star.fact_timesheet.assignment_id', now(), 'refused', now(),
         'the key may not read this (403)', 0, 1, 0, 0, 0)`,
    ],
  },
  {
    check: 'references_resolve',
    subject: 'star.fact_timesheet',
    statements: [
      `delete from star.dim_agency where agency_id = (select min(agency_id) from star.fact_timesheet where agency_id <> '-1')`,
    ],
  },
  {
    check: 'requisition_assigned',
    subject: 'star.fact_requisition',
    rows: 1,
    statements: [
      `delete from star.fact_assignment where ${one('star.fact_assignment', 'assignment_id', `x.status <> 'cancelled' and x.requisition_id is not null`)}`,
    ],
  },
  {
    check: 'resources_complete',
    subject: 'star.fact_expense',
    rows: 1,
    statements: [`update ops.watermark set backfilled_at = null where resource = 'expenses'`],
  },
  {
    check: 'rows_have_record',
    subject: 'star.fact_submission_answer',
    statements: [
      `delete from star.fact_timesheet where timesheet_id =
       (select min(entity_id) from star.fact_submission_answer where entity = 'timesheet')`,
    ],
  },
  {
    check: 'rows_match_total',
    subject: 'star.fact_expense',
    rows: 1,
    statements: [`delete from star.fact_expense where ${one('star.fact_expense', 'expense_id')}`],
  },
  {
    check: 'rows_missing',
    subject: 'star.fact_expense',
    rows: 1,
    statements: [
      `delete from star.fact_expense where expense_id in (select expense_id from star.fact_expense order by expense_id limit 6)`,
    ],
  },
  {
    check: 'timelog_hour_parts',
    subject: 'star.fact_timelog',
    rows: 1,
    statements: [change('star.fact_timelog', 'timelog_id', { set: 'standard_hours = standard_hours + 1' })],
  },
  {
    check: 'timelog_hours',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [change('star.fact_timelog', 'timelog_id', { set: 'total_hours = total_hours + 0.25' })],
  },
  {
    check: 'timesheet_buckets',
    subject: 'star.fact_timesheet',
    rows: 2,
    statements: [
      sheet('charge_total = charge_total + 1'),
      change('star.fact_timesheet', 'timesheet_id', {
        set: 'pay_sunday = coalesce(pay_sunday, 0) + 1',
        and: `x.timesheet_id <> (select min(y.timesheet_id) from star.fact_timesheet as y)`,
      }),
    ],
  },
  {
    check: 'week_ending_weekday',
    subject: 'star.fact_timesheet',
    rows: 1,
    statements: [sheet('week_ending_date = week_ending_date + 1')],
  },
  {
    check: 'weekend_days_known',
    subject: 'star.dim_company',
    rows: 1,
    statements: [change('star.dim_company', 'company_id', { set: `weekend_day = 'payday'` })],
  },
]
