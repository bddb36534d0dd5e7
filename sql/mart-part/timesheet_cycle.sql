-- Changed timesheets, those whose lateness the day decides, and those of which an event tells another submission.
select c.record_id as timesheet_id
from :changed(timesheets) as c
union
select m.timesheet_id
from mart.timesheet_cycle as m
where m.approved_at is null or m.waiting_days is not null
union
select m.timesheet_id
from (
  select e.record_id as timesheet_id, min(e.created_at) as submitted_at
  from star.fact_webhook_event as e
  where e.type = 'timesheet_approval_requested' and e.record_id is not null
  group by e.record_id
) as told
inner join mart.timesheet_cycle as m on m.timesheet_id = told.timesheet_id
where m.submitted_basis is distinct from 'event' or m.submitted_at is distinct from told.submitted_at
