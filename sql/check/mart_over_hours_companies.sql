-- In mart.workers_over_hours, all companies have at least the worker weeks that the service counts.
-- Severity: error
-- Sources: mart.workers_over_hours
-- Next: look for a company that the calibration names twice; the previous rows stay until the check passes
select x.group_by || ' ' || x.group_key as record
from mart.workers_over_hours as x
where x.left_out_worker_weeks < 0 or x.left_out_over_threshold < 0
  or x.all_companies_over_threshold > x.all_companies_worker_weeks
