-- Splits the charge into the worker's pay, employer costs and the agency's margin, by agency and trade. Charge less pay is
-- not the margin, as it includes employer costs. Amounts come from the timelogs and piece work of approved timesheets; a
-- timesheet without timelogs is left out.
-- Grain: one row per month in which the week ends, company, agency, trade, engagement type and kind of work.
-- Question: What do agencies earn on each trade?
-- Sources: star.fact_assignment, star.fact_piece_rate_entry, star.fact_timelog, star.fact_timesheet
-- Measures: sum quantity within work_kind; sum pay_value, employer_cost_value, margin_value, charge_value, other_value;
--   ratio markup_ratio = (charge_value - pay_value) / pay_value; ratio margin_ratio = margin_value / charge_value
-- Columns:
--   month_start_date date key: First day of the month in which the week ends.
--   company_id text key: The hiring company; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   trade_id text key: The trade of the assignment; '-1' when it is not known.
--   rate_type text key: Engagement type of the timesheet: cis, paye or psc; none when it names none.
--   work_kind text key: Kind of work: hours or pieces.
--   quantity numeric(18,4): Hours of timelogs, or units of piece work.
--   pay_value numeric(18,4): Pay; the denominator of markup_ratio.
--   employer_cost_value numeric(18,4): Employer costs.
--   margin_value numeric(18,4): Margin of the agency; the numerator of margin_ratio.
--   charge_value numeric(18,4): Charge; the denominator of margin_ratio.
--   other_value numeric(18,4): Rest of the charge: charge less pay, employer costs and margin.
--   markup_ratio double precision: Markup on pay: charge less pay, divided by pay.
--   margin_ratio double precision: Margin: margin_value divided by charge_value.
with worked as (
  select
    t.timesheet_id,
    cast(date_trunc('month', t.week_ending_date) as date) as month_start_date,
    t.company_id,
    t.agency_id,
    coalesce(a.trade_id, '-1') as trade_id,
    coalesce(t.rate_type, 'none') as rate_type
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
),

part as (
  select
    l.timesheet_id,
    'hours' as work_kind,
    l.total_hours as quantity,
    l.pay_total_value as pay,
    l.emp_total_value as emp,
    l.margin_total_value as margin,
    l.charge_total_value as charge
  from star.fact_timelog as l
  where not l.is_deleted
  union all
  select
    e.timesheet_id,
    'pieces' as work_kind,
    e.total_units as quantity,
    e.total_pay_value as pay,
    e.total_emp_value as emp,
    e.total_margin_value as margin,
    e.total_charge_value as charge
  from star.fact_piece_rate_entry as e
  where not e.is_deleted
),

summed as (
  select
    w.month_start_date,
    w.company_id,
    w.agency_id,
    w.trade_id,
    w.rate_type,
    p.work_kind,
    sum(coalesce(p.quantity, 0)) as quantity,
    sum(coalesce(p.pay, 0)) as pay_value,
    sum(coalesce(p.emp, 0)) as employer_cost_value,
    sum(coalesce(p.margin, 0)) as margin_value,
    sum(coalesce(p.charge, 0)) as charge_value
  from worked as w
  inner join part as p on p.timesheet_id = w.timesheet_id
  group by 1, 2, 3, 4, 5, 6
)

select
  s.month_start_date,
  s.company_id,
  s.agency_id,
  s.trade_id,
  s.rate_type,
  s.work_kind,
  s.quantity,
  s.pay_value,
  s.employer_cost_value,
  s.margin_value,
  s.charge_value,
  s.charge_value - s.pay_value - s.employer_cost_value - s.margin_value as other_value,
  cast(s.charge_value - s.pay_value as double precision) / nullif(cast(s.pay_value as double precision), 0) as markup_ratio,
  cast(s.margin_value as double precision) / nullif(cast(s.charge_value as double precision), 0) as margin_ratio
from summed as s
