-- In mart.supplier_scorecard, no part is greater than its whole.
-- Severity: error
-- Sources: mart.supplier_scorecard
-- Next: look for a requisition or assignment that is stored twice; yesterday's rows stay until the check passes
select m.agency_id || '|' || m.company_id || '|' || cast(m.month_start_date as text) as record
from mart.supplier_scorecard as m
where m.accepted > m.received or m.tracked < m.interviewed or m.interviewed < m.offers_made or m.replaced > m.started
  or m.ended_early > m.finished or m.timesheets_on_time > m.timesheets_timed or m.timesheets_timed > m.timesheets
  or m.filled_of_offered > m.offered or m.programme_filled_seats > m.programme_seats or m.carded_hours > m.net_hours
