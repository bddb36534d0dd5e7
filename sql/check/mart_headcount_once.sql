-- In mart.headcount_total, opening_workers + starters - leavers = closing_workers, and no group has more workers than all.
-- Severity: error
-- Sources: mart.headcount_total
-- Next: look for assignments that end before they start with muster check dates_in_order; the previous rows stay until the check passes
select cast(m.week_ending_date as text) || '|' || m.group_by || '|' || m.group_key as record
from mart.headcount_total as m
left join mart.headcount_total as o on o.group_by = 'all' and o.week_ending_date = m.week_ending_date
where m.opening_workers + m.starters - m.leavers <> m.closing_workers
  or m.workers > coalesce(o.workers, -1) or m.worked_headcount > coalesce(o.worked_headcount, -1)
