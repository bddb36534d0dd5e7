-- In mart.time_to_fill, all companies have at least the acceptances that the service counts.
-- Severity: error
-- Sources: mart.time_to_fill
-- Next: look for a company that the calibration names twice; the previous rows stay until the check passes
select x.group_by || ' ' || x.group_key as record
from mart.time_to_fill as x
where x.left_out_count < 0 or x.all_companies_count > x.raw_count + x.left_out_count
