-- The last week in which anybody worked; timesheets of weeks to come do not make weeks without hours for everybody.
  select least(
    max(worked.week_ending_date), cast(:today as date) + cast(7 - extract(isodow from cast(:today as date)) as integer)
  ) as week_ending_date
  from (
    select week_ending_date - 3 + cast(7 - extract(isodow from week_ending_date - 3) as integer) as week_ending_date
    from star.fact_timesheet
    where status = 'approved' and not is_deleted and worker_id <> '-1' and week_ending_date is not null
    union all
    select l.work_date + cast(7 - extract(isodow from l.work_date) as integer) as week_ending_date
    from star.fact_timelog as l
    inner join star.fact_timesheet as t on t.timesheet_id = l.timesheet_id
    where t.status = 'approved' and not t.is_deleted and t.worker_id <> '-1' and extract(isodow from t.week_ending_date) <> 7
      and not l.is_deleted and l.work_date is not null and l.total_hours > 0
  ) as worked
