-- Workers of every version of a changed timesheet: a worker who lost one has other weeks too.
select t.worker_id
from star.fact_timesheet as t
where t.timesheet_id in :changed(timesheets)
union
select h.worker_id
from history.fact_timesheet as h
where h.timesheet_id in :changed(timesheets)
