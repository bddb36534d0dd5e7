-- In mart.headcount_weekly, active_start + assignments_begun - assignments_ended = active_end, and opening_workers + starters - leavers = closing_workers.
-- Severity: error
-- Sources: mart.headcount_weekly
-- Next: look for assignments that end before they start with muster check dates_in_order; the previous rows stay until the check passes
select cast(m.week_ending_date as text) || '|' || m.project_id || '|' || m.trade_id || '|' || m.agency_id as record
from mart.headcount_weekly as m
where m.active_start + m.assignments_begun - m.assignments_ended <> m.active_end
  or m.opening_workers + m.starters - m.leavers <> m.closing_workers
