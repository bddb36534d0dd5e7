-- In mart.workforce_flow, opening_workers + starters - leavers = closing_workers, and each month opens with the closing
-- workers of the previous one.
-- Severity: error
-- Sources: mart.workforce_flow
-- Next: look for assignments that end before they start with muster check dates_in_order; the previous rows stay until the check passes
select f.company_id || ' ' || f.agency_id || ' ' || cast(f.month_start_date as text) as record
from mart.workforce_flow as f
left join mart.workforce_flow as b
  on b.company_id = f.company_id and b.agency_id = f.agency_id and b.month_end_date = f.month_start_date - 1
where f.opening_workers + f.starters - f.leavers <> f.closing_workers
  or f.opening_workers <> coalesce(b.closing_workers, 0)
  or f.new_starters > f.starters
