/**
 * A warehouse of 1,000,000 timesheets, written straight into star: `star-rows.ts FILE COUNT`. 156 weeks, 8,000 workers with
 * gaps or one for 125 timesheets, 12 companies, 25 agencies; an assignment is 20 weeks of a worker, a requisition a third of its
 * size or so.
 */

import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'

const [file = '', count = '1000000'] = process.argv.slice(2)
const engine = await openDuckdb(file)
await migrate(engine, '2026-11-02T00:00:00Z')

const weeks = 156
const aWeek = Math.ceil(Number(count) / weeks)
const workers = Math.max(8_000, Math.ceil(Number(count) / 125))
const monday = `date '2023-11-06'`

/** Columns that every row carries. */
const stamps = `false as is_deleted, timestamptz '2026-11-02 00:00:00Z' as loaded_at, timestamptz '2026-11-01 00:00:00Z' as source_updated_at, 'bench' as run_id`

/** One timesheet, and who worked it where: `i` counts them. */
const sheet = `select i, i // ${aWeek} as week, (i % ${aWeek} + (i // ${aWeek}) * 10) % ${workers} as w, (i // ${aWeek}) // 20 as block
  from range(${count}) as r(i)`
const place = `'c' || (w % 12) as company_id, 'p' || ((w % 12) * 5 + block % 5) as project_id, 's' || ((w % 12) * 13 + block % 13) as site_id,
  'a' || ((w + block) % 25) as agency_id`
const buckets = [
  'wd_basic',
  'wd_overtime',
  'wd_nightwork',
  'we_nightwork',
  'bank_holiday',
  'bank_holiday_night',
  'saturday',
  'sunday',
  'saturday_nightwork',
  'sunday_nightwork',
]
const values = buckets.map(
  (name, index) =>
    `cast(${index === 0 ? 20 : index % 3} * h as numeric(18, 4)) as pay_${name}, cast(${index === 0 ? 25 : index % 3} * h as numeric(18, 4)) as charge_${name}`,
)

const statements = [
  `insert into star.fact_timesheet by name select 't' || i as timesheet_id, 'TS-' || i as reference, 'w' || w as worker_id, ${place},
     case when i % 50 = 0 then 'pending_approval' when i % 97 = 0 then 'absent' when i % 101 = 0 then 'cancelled' else 'approved' end as status,
     w || '-' || block as assignment_id, 'hourly' as pay_type, case w % 3 when 0 then 'cis' when 1 then 'paye' else 'psc' end as rate_type,
     ${monday} + cast(week * 7 + 6 as integer) as week_ending_date,
     cast(${monday} + cast(week * 7 + 6 as integer) as timestamptz) as week_ending_at, cast(${monday} + cast(week * 7 as integer) as timestamptz) as start_at,
     cast(${monday} + cast(week * 7 + 6 as integer) as timestamptz) as end_at, cast(${monday} + cast(week * 7 + 7 + i % 4 as integer) as timestamptz) as created_at,
     cast(${monday} + cast(week * 7 + 9 + i % 5 as integer) as timestamptz) as approved_at, cast(${monday} + cast(week * 7 + 14 as integer) as timestamptz) as updated_at,
     1 + i % 3 as version, cast(h as numeric(12, 4)) as net_hours, ${values.join(', ')},
     cast(20 as numeric(18, 4)) as rate_wd_pay, cast(25 + w % 4 as numeric(18, 4)) as rate_wd_charge,
     cast(h * 29 as numeric(18, 4)) as pay_total, cast(h * 34 as numeric(18, 4)) as charge_total, cast(h * 5 as numeric(18, 4)) as margin,
     cast(0 as numeric(18, 4)) as expense_value, ${stamps} from (select *, 30 + (i * 7) % 25 + 0.5 * (i % 2) as h from (${sheet})) as sheet`,
  `insert into star.fact_assignment by name select w || '-' || block as assignment_id, 'AS-' || w || '-' || block as reference, ${place},
     'w' || w as worker_id, 't' || (w % 40) as trade_id, 'r' || (w // 3) || '-' || block as requisition_id, '-1' as region_id, '-1' as sector_id,
     case when block < 7 then 'completed' else 'confirmed' end as status, 'hourly' as pay_type,
     case w % 3 when 0 then 'cis' when 1 then 'paye' else 'psc' end as rate_type, cast(25 as numeric(18, 4)) as charge_rate, cast(20 as numeric(18, 4)) as pay_rate,
     ${monday} + cast(block * 140 as integer) as start_date, ${monday} + cast(block * 140 + 139 as integer) as end_date,
     case when block < 7 then ${monday} + cast(block * 140 + 130 as integer) end as completed_date, '-1' as purchase_order_id,
     cast(${monday} + cast(block * 140 - 10 as integer) as timestamptz) as created_at, ${stamps}
     from (select distinct w, block from (${sheet}) as sheet) as engagement`,
  `insert into star.fact_timelog by name select 'l' || i as timelog_id, 't' || i as timesheet_id, 'w' || w as worker_id, ${place}, 1 as timelog_ordinal,
     'approved' as status, ${monday} + cast(week * 7 as integer) as work_date, cast(8 as numeric(12, 4)) as total_hours, cast(8 as numeric(12, 4)) as standard_hours,
     cast(0 as numeric(12, 4)) as overtime_hours, cast(200 as numeric(18, 4)) as charge_total_value, cast(160 as numeric(18, 4)) as pay_total_value, ${stamps} from (${sheet}) as sheet`,
  `insert into star.fact_timelog_cost_code by name select 'k' || i as timelog_cost_code_key, 'l' || i as timelog_id, 't' || i as timesheet_id, 1 as allocation_ordinal,
     cast(8 as numeric(12, 4)) as hours, 'c' || (w % 12) as company_id, 'CC' || (i % 40) as cost_code_name, 'cc' || (i % 40) as cost_code_id, ${stamps} from (${sheet}) as sheet`,
  `insert into star.fact_invoice by name select distinct 'v' || (w % 12) || '_' || ((w + block) % 25) || '_' || week as invoice_id, 'pending' as status,
     'c' || (w % 12) as company_id, 'a' || ((w + block) % 25) as agency_id, '-1' as msp_id, ${monday} + cast(week * 7 + 6 as integer) as week_ending_date,
     ${monday} + cast(week * 7 + 36 as integer) as due_date, cast(1000 as numeric(18, 4)) as subtotal, cast(200 as numeric(18, 4)) as vat,
     cast(1200 as numeric(18, 4)) as total, cast(1200 as numeric(18, 4)) as final_total, cast(1200 as numeric(18, 4)) as net_value,
     cast(0 as numeric(18, 4)) as cis, cast(0 as numeric(18, 4)) as credit_notes, ${stamps} from (${sheet}) as sheet`,
  `insert into star.bridge_invoice_timesheet by name select 'b' || i as invoice_timesheet_key, 'v' || (w % 12) || '_' || ((w + block) % 25) || '_' || week as invoice_id,
     1 as timesheet_ordinal, 't' || i as timesheet_id, ${stamps} from (${sheet}) as sheet where week < ${weeks - 6}`,
  `insert into star.fact_expense by name select 'e' || i as expense_id, 'approved' as status, 'Travel' as category, ${monday} + cast(week * 7 as integer) as expense_date,
     cast(12.5 as numeric(18, 4)) as value, 'w' || w as worker_id, 't' || i as timesheet_id, '-1' as invoice_id, 'c' || (w % 12) as company_id,
     'p' || ((w % 12) * 5 + block % 5) as project_id, 'a' || ((w + block) % 25) as agency_id, 'cc' || (i % 40) as cost_code_id, ${stamps}
     from (${sheet}) as sheet where i % 10 = 0`,
  `insert into star.fact_requisition by name select distinct 'r' || (w // 3) || '-' || block as requisition_id, 'R-' || (w // 3) || '-' || block as reference,
     case when block = 7 and w // 3 % 4 = 0 then 'approved' else 'filled' end as status, cast(3 as numeric(12, 4)) as quantity, 'c' || (w // 3 % 12) as company_id, 'p' || (w // 3 % 60) as project_id,
     's' || (w // 3 % 150) as site_id, 't' || (w // 3 % 40) as trade_id, cast(${monday} + cast(block * 140 - 30 as integer) as timestamptz) as created_at,
     cast(${monday} + cast(block * 140 - 27 as integer) as timestamptz) as approved_at, ${monday} + cast(block * 140 - 27 as integer) as approved_date,
     ${monday} + cast(block * 140 as integer) as planned_start_date, 3 as assigned_total, 3 as offered_total, 3 as agencies_count,
     cast(case when block = 7 and w // 3 % 4 = 0 then 1 else 0 end as numeric(12, 4)) as open_quantity, ${stamps} from (${sheet}) as sheet`,
  `insert into star.fact_requisition_agency by name select requisition_id || '-' || n as requisition_agency_key, requisition_id, 'a' || ((hash(requisition_id) % 8) * 3 + n) as agency_id,
     company_id, project_id, trade_id, 3 as offered, 1 as assigned, approved_at + interval '2 hours' as received_at, approved_at + interval '3 days' as accepted_at,
     approved_at as requisition_approved_at, cast(3 as numeric(18, 8)) as approved_to_accepted_days, cast(2.9 as numeric(18, 8)) as received_to_accepted_days, ${stamps}
     from star.fact_requisition, range(3) as r(n)`,
  `insert into star.fact_requisition_approval_stage by name select requisition_id || '-' || n as requisition_approval_stage_key, requisition_id, n as stage_ordinal, n as stage,
     true as is_approved, approved_at, '-1' as approver_contact_id, created_at as requisition_created_at, created_at as prior_approved_at, cast(36 as numeric(12, 4)) as hours_in_stage, ${stamps}
     from star.fact_requisition, range(1, 3) as r(n)`,
  `insert into star.fact_submission by name select requisition_agency_key || '-' || n as submission_key, requisition_agency_key, requisition_id, agency_id, 'w' || n as worker_id,
     n as submission_ordinal, n = 0 as is_rejected, ${stamps} from star.fact_requisition_agency, range(2) as r(n)`,
  `insert into star.fact_submission_stage by name select submission_key as submission_stage_key, requisition_id, agency_id, worker_id, is_rejected,
     case when is_rejected then 'cvReviewed' else 'assigned' end as current_stage, ${stamps} from star.fact_submission`,
  `insert into star.fact_stage_event by name select submission_stage_key || '-' || n as stage_event_key, submission_stage_key, requisition_id, agency_id, worker_id, n + 1 as event_ordinal,
     ['submitted', 'cvReviewed', 'interviewed', 'offerMade', 'offerAccepted', 'assigned'][n + 1] as stage, timestamptz '2024-01-01 09:00:00Z' + to_days(cast(hash(requisition_id) % 900 + n as integer)) as event_at,
     case when n < last then timestamptz '2024-01-01 09:00:00Z' + to_days(cast(hash(requisition_id) % 900 + n + 1 as integer)) end as exited_at,
     case when n < last then cast(1 + n as numeric(18, 8)) end as days_in_stage, ${stamps}
     from (select *, case when is_rejected then 1 else 5 end as last from star.fact_submission_stage), range(6) as r(n) where n <= last`,
  `insert into star.dim_rate by name select 'rate' || t || '-' || c || '-' || k as rate_id, 't' || t as trade_id, 'c' || c as company_id, '-1' as region_id, '-1' as sector_id,
     case when k = 1 then 'p' || (c * 5) else '-1' end as project_id, case when k = 2 then 'a' || c else '-1' end as agency_id, cast(26 as numeric(18, 4)) as hourly_paye_charge,
     cast(20 as numeric(18, 4)) as hourly_paye_pay, cast(21 as numeric(18, 4)) as hourly_paye_comparable_pay_rate, cast(26 as numeric(18, 4)) as hourly_cis_charge,
     cast(20 as numeric(18, 4)) as hourly_cis_pay, cast(21 as numeric(18, 4)) as hourly_cis_comparable_pay_rate, cast(26 as numeric(18, 4)) as hourly_psc_charge,
     cast(20 as numeric(18, 4)) as hourly_psc_pay, false as is_inferred, ${stamps} from range(40) as a(t), range(12) as b(c), range(3) as d(k)`,
  `insert into star.fact_recruitment_metric_row by name select requisition_agency_key as recruitment_metric_row_key, r.company_id, r.reference as requisition_reference, ${stamps}
     from star.fact_requisition_agency as a join star.fact_requisition as r using (requisition_id)`,
  `insert into star.fact_user_permission by name select 'up' || u || '-' || p || '-' || k as user_permission_key, 'c' || (p % 12) as company_id, 'u' || u as user_id,
     'p' || p as project_id, 'permission ' || k as permission_id, true as is_permitted, ${stamps} from range(300) as a(u), range(50) as b(p), range(10) as d(k)`,
  `insert into star.bridge_user_access by name select 'ua' || u || '-' || c as user_access_key, 'c' || c as company_id, 'u' || u as user_id, 'Site manager' as role_label,
     'Active' as status, ${stamps} from range(300) as a(u), range(12) as b(c)`,
  `insert into star.dim_purchase_order by name select 'o' || n as purchase_order_id, 'PO-' || n as reference, 'ref' || n as purchase_order_reference_key, 'active' as status,
     cast(500000 as numeric(18, 4)) as value, ${monday} as start_date, ${monday} + 1200 as end_date, 'c' || (n % 12) as company_id, false as is_inferred, ${stamps} from range(600) as a(n)`,
  // Names to choose from and to write beside ids.
  ...[
    { table: 'company', letter: 'c', count: 12 },
    { table: 'agency', letter: 'a', count: 25 },
    { table: 'project', letter: 'p', count: 60, company: 'n // 5' },
    { table: 'site', letter: 's', count: 156, company: 'n // 13' },
    { table: 'trade', letter: 't', count: 40, company: 'n % 12' },
  ].map(
    ({ table, letter, count, company }) =>
      `insert into star.dim_${table} by name select '${letter}' || n as ${table}_id, '${table} ' || n as name,
     ${company === undefined ? '' : `'c' || (${company}) as company_id,`} false as is_inferred, ${stamps} from range(${count}) as r(n)`,
  ),
  `insert into star.dim_worker by name select 'w' || n as worker_id, 'W-' || n as worker_reference, false as is_inferred, ${stamps} from range(${workers}) as r(n)`,
  `update star.fact_assignment set purchase_order_id = 'o' || (hash(assignment_id) % 600)`,
  `insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read, rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
     values ('bench', 'sync', '', 'done', timestamptz '2026-11-01 02:00:00Z', timestamptz '2026-11-02 02:00:00Z', 1, 0, ${count}, ${count}, 0, 0, 0, 0, 'bench')`,
  'checkpoint',
]
for (const statement of statements) await engine.run(statement)
await engine.close()
