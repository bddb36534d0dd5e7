-- Pay and cost of approved labour by week, place, trade, agency and kind of engagement, and the cost that waits for approval.
-- Grain: one row per week ending, company, project, site, trade, agency and rate type.
-- Question: What does labour cost?
-- Assumption: only approved timesheets count, except in pending_value and what is made of it. The trade is that of the
-- assignment, even of a deleted one, and '-1' until the assignment was read. The amounts of a timesheet already include
-- piece work; nothing is added for it. The columns on statements (SDS: ITEPA 2003 part 2 chapter 10, off-payroll working)
-- and on the minimum wage (rates of star.dim_minimum_wage, from gov.uk) are indicators as of November 2026, not legal
-- advice.
-- Sources: ops.company_currency, star.dim_minimum_wage, star.fact_timesheet, star.fact_timelog, star.fact_assignment
-- Measures: sum timesheets, net_hours, pay_value, charge_value, margin_value, employer_cost_value, agency_margin_value,
--   margin_timesheets, expense_value, cost_value, pending_timesheets, pending_value, approved_and_pending_value,
--   psc_without_sds_hours, psc_without_sds_value, psc_sds_unknown_value, umbrella_hours, umbrella_value,
--   minimum_wage_hours, below_minimum_hours, below_minimum_value; none workers, psc_without_sds_workers,
--   umbrella_workers; ratio cost_per_hour = cost_value / net_hours; ratio approved_share = cost_value /
--   approved_and_pending_value
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the records name none.
--   project_id text key: The project; '-1' when the records name none.
--   site_id text key: The site; '-1' when the records name none.
--   trade_id text key: The trade of the assignment; '-1' when it is not known.
--   agency_id text key: The agency; '-1' when the records name none.
--   rate_type text key: Engagement type: cis, paye or psc; unknown when the timesheets name none.
--   timesheets bigint: Timesheets that are approved.
--   workers bigint: Different workers on them.
--   net_hours numeric(18,4): Hours after breaks.
--   pay_value numeric(18,4): Pay, in the currency of the company.
--   charge_value numeric(18,4): Charge, in the currency of the company.
--   margin_value numeric(18,4): Charge less pay: it includes employer costs, so it is not what the agency earns.
--   employer_cost_value numeric(18,4): Employer costs, as the timelogs give them; empty when none gives them.
--   agency_margin_value numeric(18,4): Margin of the agency, as the timelogs give it; empty when none gives it.
--   margin_timesheets bigint: Timesheets whose timelogs give the agency's margin: compare with timesheets.
--   expense_value numeric(18,4): Expenses claimed with the timesheets.
--   cost_value numeric(18,4): Charge and expenses; the numerator of cost_per_hour.
--   cost_per_hour double precision: Cost of an hour: cost_value divided by net_hours; empty when there are no hours.
--   pending_timesheets bigint: Timesheets that wait for submission or approval.
--   pending_value numeric(18,4): Charge and expenses of pending_timesheets: cost that is still to come.
--   approved_and_pending_value numeric(18,4): Sum of cost_value and pending_value; the denominator of approved_share.
--   approved_share double precision: Approved share by value: cost_value / approved_and_pending_value.
--   psc_without_sds_workers integer: Different workers of personal service companies on an assignment without a status
--     determination statement.
--   psc_without_sds_hours numeric(18,4): Net hours of psc_without_sds_workers. Assignments that are not stored are left out.
--   psc_without_sds_value numeric(18,4): Charge of the timesheets in psc_without_sds_hours.
--   psc_sds_unknown_value numeric(18,4): The charge of personal service companies whose assignment is not stored.
--   umbrella_workers integer: Different workers whose assignment names an umbrella company.
--   umbrella_hours numeric(18,4): Net hours of umbrella_workers. Assignments that are not stored are left out.
--   umbrella_value numeric(18,4): Charge of the timesheets in umbrella_hours.
--   minimum_wage_hours numeric(18,4): Net hours of PAYE timesheets in pounds sterling whose pay is compared with the highest
--     minimum wage of the first day of the week; subcontractors and personal service companies are left out.
--   below_minimum_hours numeric(18,4): Hours of minimum_wage_hours that are paid below it: weekday pay, or pay by hours
--     where pay is by the day. The age of workers is not in the data: a lower rate may apply to those under 21 and to
--     apprentices.
--   below_minimum_value numeric(18,4): Pay missing to the minimum wage in below_minimum_hours.
with logged as (
  select l.timesheet_id, sum(l.emp_total_value) as employer_cost_value, sum(l.margin_total_value) as agency_margin_value
  from star.fact_timelog as l
  where not l.is_deleted and (l.emp_total_value is not null or l.margin_total_value is not null)
  group by l.timesheet_id
),

wage as (
  select w.valid_from, max(w.hourly_rate) as hourly_rate, lead(w.valid_from) over (order by w.valid_from) as next_from
  from star.dim_minimum_wage as w
  group by w.valid_from
),

sheet as (
  select
    t.*,
    a.trade_id,
    a.assignment_id is not null as is_known,
    coalesce(a.has_sds, false) as has_sds,
    t.rate_type = 'psc' as is_psc,
    a.umbrella_id <> '-1' as is_umbrella,
    case
      when t.pay_type = 'hourly' then (w.hourly_rate - t.rate_wd_pay) * t.net_hours
      else w.hourly_rate * t.net_hours - t.pay_total
    end as shortfall
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  left join ops.company_currency as c on c.company_id = t.company_id and c.currency = 'GBP' and t.rate_type = 'paye' and t.net_hours > 0
  left join wage as w
    on c.company_id is not null and w.valid_from <= t.week_ending_date - 6
      and (w.next_from is null or w.next_from > t.week_ending_date - 6)
  where not t.is_deleted and t.status in ('approved', 'pending', 'pending_approval') and t.week_ending_date is not null
),

spend as (
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    t.site_id,
    coalesce(t.trade_id, '-1') as trade_id,
    t.agency_id,
    coalesce(t.rate_type, 'unknown') as rate_type,
    count(*) as timesheets,
    count(distinct nullif(t.worker_id, '-1')) as workers,
    sum(t.net_hours) as net_hours,
    sum(t.pay_total) as pay_value,
    sum(t.charge_total) as charge_value,
    sum(t.expense_value) as expense_value,
    sum(l.employer_cost_value) as employer_cost_value,
    sum(l.agency_margin_value) as agency_margin_value,
    count(l.agency_margin_value) as margin_timesheets,
    count(distinct case when t.is_psc and t.is_known and not t.has_sds then nullif(t.worker_id, '-1') end)
      as psc_without_sds_workers,
    sum(case when t.is_psc and t.is_known and not t.has_sds then t.net_hours else 0 end)
      as psc_without_sds_hours,
    sum(case when t.is_psc and t.is_known and not t.has_sds then t.charge_total else 0 end)
      as psc_without_sds_value,
    sum(case when t.is_psc and not t.is_known then t.charge_total else 0 end) as psc_sds_unknown_value,
    count(distinct case when t.is_umbrella then nullif(t.worker_id, '-1') end) as umbrella_workers,
    sum(case when t.is_umbrella then t.net_hours else 0 end) as umbrella_hours,
    sum(case when t.is_umbrella then t.charge_total else 0 end) as umbrella_value,
    sum(case when t.shortfall is not null then t.net_hours else 0 end) as minimum_wage_hours,
    sum(case when t.shortfall > 0 then t.net_hours else 0 end) as below_minimum_hours,
    sum(case when t.shortfall > 0 then t.shortfall else 0 end) as below_minimum_value
  from sheet as t
  left join logged as l on l.timesheet_id = t.timesheet_id
  where t.status = 'approved'
  group by t.week_ending_date, t.company_id, t.project_id, t.site_id, coalesce(t.trade_id, '-1'), t.agency_id,
    coalesce(t.rate_type, 'unknown')
),

waiting as (
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    t.site_id,
    coalesce(t.trade_id, '-1') as trade_id,
    t.agency_id,
    coalesce(t.rate_type, 'unknown') as rate_type,
    count(*) as timesheets,
    sum(coalesce(t.charge_total, 0) + coalesce(t.expense_value, 0)) as cost_value
  from sheet as t
  where t.status <> 'approved'
  group by t.week_ending_date, t.company_id, t.project_id, t.site_id, coalesce(t.trade_id, '-1'), t.agency_id,
    coalesce(t.rate_type, 'unknown')
),

joined as (
  select
    week_ending_date,
    company_id,
    project_id,
    site_id,
    trade_id,
    agency_id,
    rate_type,
    coalesce(spend.timesheets, 0) as timesheets,
    coalesce(spend.workers, 0) as workers,
    coalesce(spend.net_hours, 0) as net_hours,
    coalesce(spend.pay_value, 0) as pay_value,
    coalesce(spend.charge_value, 0) as charge_value,
    coalesce(spend.expense_value, 0) as expense_value,
    coalesce(spend.margin_timesheets, 0) as margin_timesheets,
    coalesce(spend.psc_without_sds_workers, 0) as psc_without_sds_workers,
    coalesce(spend.psc_without_sds_hours, 0) as psc_without_sds_hours,
    coalesce(spend.psc_without_sds_value, 0) as psc_without_sds_value,
    coalesce(spend.psc_sds_unknown_value, 0) as psc_sds_unknown_value,
    coalesce(spend.umbrella_workers, 0) as umbrella_workers,
    coalesce(spend.umbrella_hours, 0) as umbrella_hours,
    coalesce(spend.umbrella_value, 0) as umbrella_value,
    coalesce(spend.minimum_wage_hours, 0) as minimum_wage_hours,
    coalesce(spend.below_minimum_hours, 0) as below_minimum_hours,
    coalesce(spend.below_minimum_value, 0) as below_minimum_value,
    spend.employer_cost_value,
    spend.agency_margin_value,
    coalesce(waiting.timesheets, 0) as pending_timesheets,
    coalesce(waiting.cost_value, 0) as pending_value
  from spend
  full join waiting using (week_ending_date, company_id, project_id, site_id, trade_id, agency_id, rate_type)
)

select
  week_ending_date,
  company_id,
  project_id,
  site_id,
  trade_id,
  agency_id,
  rate_type,
  timesheets,
  workers,
  net_hours,
  pay_value,
  charge_value,
  charge_value - pay_value as margin_value,
  employer_cost_value,
  agency_margin_value,
  margin_timesheets,
  expense_value,
  charge_value + expense_value as cost_value,
  cast(charge_value + expense_value as double precision)
    / nullif(cast(net_hours as double precision), 0) as cost_per_hour,
  pending_timesheets,
  pending_value,
  charge_value + expense_value + pending_value as approved_and_pending_value,
  cast(charge_value + expense_value as double precision)
    / nullif(cast(charge_value + expense_value + pending_value as double precision), 0) as approved_share,
  psc_without_sds_workers,
  psc_without_sds_hours,
  psc_without_sds_value,
  psc_sds_unknown_value,
  umbrella_workers,
  umbrella_hours,
  umbrella_value,
  minimum_wage_hours,
  below_minimum_hours,
  below_minimum_value
from joined
