-- Work and claims that were owed but not invoiced at the end of each month, by how certain they were: as recorded by the
-- first build after that day, which never changes, and as the records show it now. Late timesheets, corrections and
-- cancellations make the difference.
-- Grain: one row per month end, company, project, agency and state of the accrual.
-- Question: What did we owe at the end of the month, and did that hold?
-- Assumption: a timesheet belongs to the month in which its week ends; a claim to that of its week. An invoice counts from
-- the day of its creation, an approval from its own day. A month that ended before the warehouse was first built has no
-- recorded figures. They survive replays and copies; a warehouse that starts again with a first sync has none.
-- Sources: ops.accrual_month_end, star.bridge_invoice_timesheet, star.dim_company, star.dim_date, star.fact_expense, star.fact_invoice, star.fact_timesheet
-- Measures: last recorded_records, recorded_net_hours, recorded_value, records, net_hours, accrued_value,
--   later_change_value
-- Columns:
--   month_end_date date key: Last day of the month, in the reporting zone.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   accrual_state text key: How certain it was: approved (timesheets approved by then), unapproved (other timesheets) or
--     claims (claims approved by then).
--   recorded_at timestamptz: When the figures of this month end were recorded; empty when none were.
--   recorded_records integer: Timesheets or claims, as recorded.
--   recorded_net_hours numeric(18,4): Hours after breaks, as recorded.
--   recorded_value numeric(18,4): Charge or claims that were owed, as recorded.
--   records integer: Timesheets or claims, as the records show it now; empty for a month more than 24 months back.
--   net_hours numeric(18,4): Hours after breaks, as the records show it now.
--   accrued_value numeric(18,4): Charge or claims that were owed, as the records show it now.
--   later_change_value numeric(18,4): Change since the figures were recorded: accrued_value less recorded_value.
with
-- Include: dated_expense

-- Include: owed_work

-- Include: month_end_accrual

recorded_month as (
  select k.month_end_date, max(k.recorded_at) as recorded_at
  from ops.accrual_month_end as k
  group by k.month_end_date
),

month as (
  select m.month_end_date, true as is_told from accrued_month as m
  union all
  select k.month_end_date, false as is_told
  from recorded_month as k
  where not exists (select 1 from accrued_month as m where m.month_end_date = k.month_end_date)
),

grouping_key as (
  select month_end_date, company_id, project_id, agency_id, accrual_state from month_end_accrual
  union
  select month_end_date, company_id, project_id, agency_id, accrual_state from ops.accrual_month_end
)

select
  g.month_end_date,
  g.company_id,
  g.project_id,
  g.agency_id,
  g.accrual_state,
  km.recorded_at,
  case when km.recorded_at is not null then coalesce(k.records, 0) end as recorded_records,
  case when km.recorded_at is not null then coalesce(k.net_hours, 0) end as recorded_net_hours,
  case when km.recorded_at is not null then coalesce(k.accrued_value, 0) end as recorded_value,
  case when month.is_told then coalesce(a.records, 0) end as records,
  case when month.is_told then coalesce(a.net_hours, 0) end as net_hours,
  case when month.is_told then coalesce(a.accrued_value, 0) end as accrued_value,
  case when month.is_told and km.recorded_at is not null then coalesce(a.accrued_value, 0) - coalesce(k.accrued_value, 0) end
    as later_change_value
from grouping_key as g
inner join month on month.month_end_date = g.month_end_date
left join recorded_month as km on km.month_end_date = g.month_end_date
left join month_end_accrual as a
  on a.month_end_date = g.month_end_date and a.company_id = g.company_id and a.project_id = g.project_id
    and a.agency_id = g.agency_id and a.accrual_state = g.accrual_state
left join ops.accrual_month_end as k
  on k.month_end_date = g.month_end_date and k.company_id = g.company_id and k.project_id = g.project_id
    and k.agency_id = g.agency_id and k.accrual_state = g.accrual_state
