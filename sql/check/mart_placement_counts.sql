-- In mart.time_to_fill, no count exceeds the group's number of acceptances.
-- Severity: error
-- Sources: mart.time_to_fill
-- Next: look for an agency that a requisition names twice; the previous rows stay until the check passes
select m.group_by || '|' || m.group_key as record
from mart.time_to_fill as m
where greatest(
  m.accepted_without_worker, m.time_to_submit_count, m.submit_to_accept_count, m.time_to_start_count, m.time_to_last_seat_count
) > m.raw_count
