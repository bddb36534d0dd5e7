-- Weekly net hours of each worker.
-- Grain: one row per worker and week ending.
-- Question: Who works too many hours?
-- Sources: star.fact_timesheet
-- Columns:
--   worker_id text key: The worker; '-1' when the record names none.
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   net_hours numeric(18,4): Net hours of approved timesheets, in hours.
select worker_id, week_ending_date, sum(net_hours) as net_hours
from star.fact_timesheet
where status = 'approved' and not is_deleted and week_ending_date is not null
group by worker_id, week_ending_date
