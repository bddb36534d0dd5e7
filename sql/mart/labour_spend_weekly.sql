-- What approved labour pays and costs by week, place, trade, agency and kind of engagement.
-- Grain: one row per week ending, company, project, site, trade, agency and rate type.
-- Question: What does labour cost?
-- Assumption: only approved timesheets count. The trade is that of the assignment, even of a deleted one, and '-1' until the
-- assignment was read. Piece work is part of the amounts that the service gives for the timesheet; nothing is added for it.
-- Sources: star.fact_timesheet, star.fact_timelog, star.fact_assignment
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
--   margin_value numeric(18,4): Charge less pay; employer costs are inside, so it is not what the agency earns.
--   employer_cost_value numeric(18,4): Employer costs, as the timelogs give them; empty when none gives them.
--   agency_margin_value numeric(18,4): Margin of the agency, as the timelogs give it; empty when none gives it.
--   margin_timesheets bigint: Timesheets whose timelogs give it: compare with timesheets.
--   expense_value numeric(18,4): Expenses claimed with the timesheets.
--   cost_value numeric(18,4): Charge and expenses; the numerator of cost_per_hour.
--   cost_per_hour double precision: Cost of an hour: cost_value divided by net_hours; empty when there are no hours.
with logged as (
  select l.timesheet_id, sum(l.emp_total_value) as employer_cost_value, sum(l.margin_total_value) as agency_margin_value
  from star.fact_timelog as l
  where not l.is_deleted and (l.emp_total_value is not null or l.margin_total_value is not null)
  group by l.timesheet_id
)

select
  spend.week_ending_date,
  spend.company_id,
  spend.project_id,
  spend.site_id,
  spend.trade_id,
  spend.agency_id,
  spend.rate_type,
  spend.timesheets,
  spend.workers,
  spend.net_hours,
  spend.pay_value,
  spend.charge_value,
  spend.charge_value - spend.pay_value as margin_value,
  spend.employer_cost_value,
  spend.agency_margin_value,
  spend.margin_timesheets,
  spend.expense_value,
  spend.charge_value + spend.expense_value as cost_value,
  cast(spend.charge_value + spend.expense_value as double precision)
    / nullif(cast(spend.net_hours as double precision), 0) as cost_per_hour
from (
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    t.site_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    coalesce(t.rate_type, 'unknown') as rate_type,
    count(*) as timesheets,
    count(distinct nullif(t.worker_id, '-1')) as workers,
    sum(coalesce(t.net_hours, 0)) as net_hours,
    sum(coalesce(t.pay_total, 0)) as pay_value,
    sum(coalesce(t.charge_total, 0)) as charge_value,
    sum(coalesce(t.expense_value, 0)) as expense_value,
    sum(l.employer_cost_value) as employer_cost_value,
    sum(l.agency_margin_value) as agency_margin_value,
    count(l.agency_margin_value) as margin_timesheets
  from star.fact_timesheet as t
  left join logged as l on l.timesheet_id = t.timesheet_id
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
  group by t.week_ending_date, t.company_id, t.project_id, t.site_id, coalesce(a.trade_id, '-1'), t.agency_id,
    coalesce(t.rate_type, 'unknown')
) as spend
