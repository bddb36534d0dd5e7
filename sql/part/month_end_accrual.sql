-- Work and claims owed but not invoiced at the end of each of the last 24 months, as the records show it now. Reads the
-- part owed_work.
accrued_month as (
  select max(d.date_day) as month_end_date
  from star.dim_date as d
  where d.date_day < cast(date_trunc('month', :read_day) as date)
    and d.date_day >= cast(date_trunc('month', :read_day) - interval '24 months' as date)
  group by d.month_start_date
),

-- Approved by then; approved without a day counts as approved.
month_end_work as (
  select
    m.month_end_date,
    o.company_id,
    o.project_id,
    o.agency_id,
    case
      when o.record_kind = 'claim' then 'claims'
      when o.is_approved and (o.approved_at is null or :day(o.approved_at) <= m.month_end_date) then 'approved'
      else 'unapproved'
    end as accrual_state,
    o.net_hours,
    o.accrued_value
  from accrued_month as m
  inner join owed_work as o
    on o.week_ending_date <= m.month_end_date
      and (not o.is_billed or o.billed_date > m.month_end_date)
      and (o.record_kind = 'timesheet' or o.approved_at is null or :day(o.approved_at) <= m.month_end_date)
),

month_end_accrual as (
  select
    w.month_end_date, w.company_id, w.project_id, w.agency_id, w.accrual_state,
    count(*) as records,
    cast(sum(w.net_hours) as numeric(18, 4)) as net_hours,
    cast(sum(w.accrued_value) as numeric(18, 4)) as accrued_value
  from month_end_work as w
  group by w.month_end_date, w.company_id, w.project_id, w.agency_id, w.accrual_state
),
