-- mart.attendance_weekly counts every timesheet that has a week and is not cancelled, and no more absences than timesheets.
-- Severity: error
-- Sources: mart.attendance_weekly, star.fact_timesheet
-- Next: look for a timesheet that is stored twice with muster check keys_unique; the previous rows stay until the check passes
select 'timesheets ' || cast(m.n as text) || ' of ' || cast(s.n as text) || ', absent ' || cast(m.absent as text) || ' of ' || cast(s.absent as text) as record
from (
  select coalesce(sum(x.timesheets), 0) as n, coalesce(sum(x.absent_timesheets), 0) as absent
  from mart.attendance_weekly as x
) as m
cross join (
  select count(*) as n, count(*) filter (where t.status = 'absent') as absent
  from star.fact_timesheet as t
  where not t.is_deleted and t.week_ending_date is not null and t.status <> 'cancelled'
) as s
where m.n <> s.n or m.absent <> s.absent
