-- In mart.supplier_scorecard, no part exceeds its total.
-- Severity: error
-- Sources: mart.supplier_scorecard, star.fact_timesheet
-- Next: look for a requisition or assignment that is stored twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select m.agency_id || '|' || m.company_id || '|' || cast(m.month_start_date as text) as record
from mart.supplier_scorecard as m
where m.accepted > m.received or m.tracked < m.interviewed or m.interviewed < m.offers_made or m.replaced > m.started
  or m.ended_early > m.finished or m.timesheets_on_time > m.timesheets_timed or m.timesheets_timed > m.timesheets
  or m.filled_of_offered > m.offered or m.programme_filled_seats > m.programme_seats
  -- Carded hours exceed all hours where a correction has negative hours.
  or (m.carded_hours > m.net_hours and not exists (
    select 1 from approved_timesheet as t where t.agency_id = m.agency_id and t.company_id = m.company_id and t.net_hours < 0))
