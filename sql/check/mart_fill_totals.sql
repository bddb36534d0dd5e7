-- mart.programme_fill counts every approved requisition once, and fills no more seats than were asked for.
-- Severity: error
-- Sources: mart.programme_fill, star.fact_requisition
-- Next: look for a requisition that is stored twice; the previous rows stay until the check passes
select 'requisitions ' || cast(m.n as text) || ' of ' || cast(s.n as text) || ', seats ' || cast(m.seats as text) || ' of ' || cast(s.seats as text) as record
from (
  select coalesce(sum(x.requisitions), 0) as n, coalesce(sum(x.seats), 0) as seats from mart.programme_fill as x
) as m
cross join (
  select count(*) as n, coalesce(sum(r.quantity), 0) as seats
  from star.fact_requisition as r
  where not r.is_deleted and r.approved_at is not null
) as s
where m.n <> s.n or m.seats <> s.seats
union all
select x.company_id || ' ' || x.project_id || ' ' || cast(x.month_start_date as text) as record
from mart.programme_fill as x
where x.filled_seats > x.seats
