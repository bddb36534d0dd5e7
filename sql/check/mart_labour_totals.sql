-- Hours and charge of mart.labour_spend_weekly equal those of all approved timesheets, its pending value that of all waiting
-- ones, and no part exceeds its total.
-- Severity: error
-- Sources: mart.labour_spend_weekly, star.fact_timesheet
-- Next: look for assignments that are stored twice: their timesheets count twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) || ', charge ' || cast(m.charge as text) || ' of ' || cast(s.charge as text) as record
from (
  select coalesce(sum(x.net_hours), 0) as hours, coalesce(sum(x.charge_value), 0) as charge
  from mart.labour_spend_weekly as x
) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours, coalesce(sum(t.charge_total), 0) as charge
  from approved_timesheet as t
) as s
where m.hours <> s.hours or m.charge <> s.charge
union all
select 'pending ' || cast(m.pending as text) || ' of ' || cast(s.pending as text) as record
from (select coalesce(sum(x.pending_value), 0) as pending from mart.labour_spend_weekly as x) as m
cross join (
  select coalesce(sum(coalesce(t.charge_total, 0) + coalesce(t.expense_value, 0)), 0) as pending
  from star.fact_timesheet as t
  where not t.is_deleted and t.status in ('pending', 'pending_approval') and t.week_ending_date is not null
) as s
where m.pending <> s.pending
union all
select cast(x.week_ending_date as text) || '|' || x.company_id || '|' || x.agency_id as record
from mart.labour_spend_weekly as x
where x.umbrella_workers > x.workers or x.psc_without_sds_workers > x.workers
  -- A part exceeds its total where a correction has negative hours.
  or (
    (
      x.below_minimum_hours > x.minimum_wage_hours or x.minimum_wage_hours > x.net_hours
      or x.umbrella_hours > x.net_hours or x.psc_without_sds_hours > x.net_hours
    )
    and not exists (select 1 from approved_timesheet as t where t.net_hours < 0)
  )
