-- Charge of mart.agency_margin equals that of the timelogs and of the piece work of all approved timesheets.
-- Severity: error
-- Sources: mart.agency_margin, star.fact_piece_rate_entry, star.fact_timelog, star.fact_timesheet
-- Next: look for assignments that are stored twice: their timesheets count twice; the previous rows stay until the check passes
with sheet as (
  select t.timesheet_id
  from star.fact_timesheet as t
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
)

select m.work_kind || ' ' || cast(m.charge as text) || ' of ' || cast(s.charge as text) as record
from (
  select kind.work_kind, coalesce(sum(x.charge_value), 0) as charge
  from (select 'hours' as work_kind union all select 'pieces' as work_kind) as kind
  left join mart.agency_margin as x on x.work_kind = kind.work_kind
  group by kind.work_kind
) as m
inner join (
  select 'hours' as work_kind, coalesce(sum(l.charge_total_value), 0) as charge
  from star.fact_timelog as l
  inner join sheet on sheet.timesheet_id = l.timesheet_id
  where not l.is_deleted
  union all
  select 'pieces' as work_kind, coalesce(sum(e.total_charge_value), 0) as charge
  from star.fact_piece_rate_entry as e
  inner join sheet on sheet.timesheet_id = e.timesheet_id
  where not e.is_deleted
) as s on s.work_kind = m.work_kind
where m.charge <> s.charge
