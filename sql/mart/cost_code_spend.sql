-- Hours and money by cost code, week and project, and those without a cost code.
-- Grain: one row per week ending, company, project and cost code; '-1' stands for no cost code.
-- Question: Where is cost booked?
-- Assumption: only approved timesheets and approved expenses count. The charge of a timelog is divided in proportion to its
-- hours. Hours and charge that no timelog allocates are under '-1', so that a week and project adds up to its timesheets.
-- An expense without a timesheet is in the week that ends on the weekday configured for the company, else on Sunday.
-- Sources: star.fact_timesheet, star.fact_timelog, star.fact_timelog_cost_code, star.fact_piece_rate_line, star.fact_expense,
--   star.dim_company
-- Measures: sum hours, charge_value, piece_charge_value, expense_value; none piece_units, project_hours, hours_share
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the records name none.
--   project_id text key: The project; '-1' when the records name none.
--   cost_code_id text key: The cost code; '-1' for hours and money without one.
--   hours numeric(18,4): Hours of timesheets.
--   charge_value numeric(18,4): Charge of those hours; rows that hold only a rounding remainder below half a penny are left
--     out.
--   piece_units numeric(18,4): Units of piece work; units of different kinds are added up.
--   piece_charge_value numeric(18,4): Charge of piece work, as its lines give it.
--   expense_value numeric(18,4): Expenses.
--   project_hours numeric(18,4): Hours of all cost codes of the week and project; the denominator of hours_share.
--   hours_share double precision: Share of the week and project: hours divided by project_hours.
with sheet as (
  select t.timesheet_id, t.week_ending_date, t.company_id, t.project_id, t.net_hours, t.charge_total
  from star.fact_timesheet as t
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
),

-- Rounds to ten-millionths first: the order of addition must not decide a tie in the fifth decimal.
allocated as (
  select
    s.week_ending_date,
    s.company_id,
    s.project_id,
    a.cost_code_id,
    sum(coalesce(a.hours, 0)) as hours,
    cast(coalesce(sum(
      cast(l.charge_total_value as double precision) * cast(a.hours as double precision)
        / nullif(cast(l.total_hours as double precision), 0)
    ), 0) + 0.0000001 as numeric(18, 4)) as charge_value
  from star.fact_timelog_cost_code as a
  inner join star.fact_timelog as l on l.timelog_id = a.timelog_id and l.timesheet_id = a.timesheet_id
  inner join sheet as s on s.timesheet_id = a.timesheet_id
  where not a.is_deleted and not l.is_deleted and a.cost_code_id <> '-1'
  group by s.week_ending_date, s.company_id, s.project_id, a.cost_code_id
),

worked as (
  select
    s.week_ending_date,
    s.company_id,
    s.project_id,
    sum(coalesce(s.net_hours, 0)) as hours,
    sum(coalesce(s.charge_total, 0)) as charge_value
  from sheet as s
  group by s.week_ending_date, s.company_id, s.project_id
),

piece as (
  select s.week_ending_date, s.company_id, s.project_id, p.cost_code_id,
    sum(coalesce(p.units, 0)) as units, sum(coalesce(p.charge_value, 0)) as charge_value
  from star.fact_piece_rate_line as p
  inner join sheet as s on s.timesheet_id = p.timesheet_id
  where not p.is_deleted
  group by s.week_ending_date, s.company_id, s.project_id, p.cost_code_id
),

-- Include: dated_expense

expense as (
  select e.week_ending_date, e.company_id, e.project_id, e.cost_code_id, coalesce(e.value, 0) as value
  from dated_expense as e
  where e.status = 'approved' and e.week_ending_date is not null
),

part as (
  select week_ending_date, company_id, project_id, cost_code_id, hours, charge_value,
    cast(0 as numeric(18, 4)) as units, cast(0 as numeric(18, 4)) as piece_value, cast(0 as numeric(18, 4)) as expense_value
  from allocated
  union all
  select week_ending_date, company_id, project_id, '-1' as cost_code_id, hours, charge_value, 0 as units, 0 as piece_value,
    0 as expense_value
  from worked
  union all
  select week_ending_date, company_id, project_id, cost_code_id, 0 as hours, 0 as charge_value, units,
    charge_value as piece_value, 0 as expense_value
  from piece
  union all
  select week_ending_date, company_id, project_id, cost_code_id, 0 as hours, 0 as charge_value, 0 as units,
    0 as piece_value, value as expense_value
  from expense
),

spend as (
  select
    part.week_ending_date,
    part.company_id,
    part.project_id,
    part.cost_code_id,
    sum(part.hours) as hours,
    sum(part.charge_value) as charge_value,
    sum(part.units) as piece_units,
    sum(part.piece_value) as piece_charge_value,
    sum(part.expense_value) as expense_value
  from part
  group by part.week_ending_date, part.company_id, part.project_id, part.cost_code_id
),

-- Up to here '-1' holds all hours that were worked, allocated ones included.
total as (
  select
    spend.*,
    sum(case when spend.cost_code_id <> '-1' then spend.hours else 0 end) over place as allocated_hours,
    sum(case when spend.cost_code_id <> '-1' then spend.charge_value else 0 end) over place as allocated_value,
    sum(case when spend.cost_code_id = '-1' then spend.hours else 0 end) over place as project_hours
  from spend
  window place as (partition by spend.week_ending_date, spend.company_id, spend.project_id)
),

booked as (
  select
    total.week_ending_date,
    total.company_id,
    total.project_id,
    total.cost_code_id,
    case when total.cost_code_id = '-1' then total.hours - total.allocated_hours else total.hours end as hours,
    case
      when total.cost_code_id = '-1' then total.charge_value - total.allocated_value
      else total.charge_value
    end as charge_value,
    total.piece_units,
    total.piece_charge_value,
    total.expense_value,
    total.project_hours
  from total
)

select
  booked.week_ending_date,
  booked.company_id,
  booked.project_id,
  booked.cost_code_id,
  booked.hours,
  booked.charge_value,
  booked.piece_units,
  booked.piece_charge_value,
  booked.expense_value,
  booked.project_hours,
  cast(booked.hours as double precision) / nullif(cast(booked.project_hours as double precision), 0) as hours_share
from booked
where booked.hours <> 0 or abs(booked.charge_value) >= 0.005 or booked.piece_units <> 0 or booked.piece_charge_value <> 0
  or booked.expense_value <> 0
