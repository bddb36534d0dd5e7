-- mart.stage_duration counts every step that has a stage and a date once.
-- Severity: error
-- Sources: mart.stage_duration, star.fact_stage_event
-- Next: look for a requisition that is stored twice; the previous rows stay until the check passes
select cast(m.entries as text) || ' of ' || cast(s.entries as text) || ' steps' as record
from (select coalesce(sum(x.entries), 0) as entries from mart.stage_duration as x) as m
cross join (
  select count(*) as entries
  from star.fact_stage_event as e
  where not e.is_deleted and e.stage is not null and e.event_at is not null
) as s
where m.entries <> s.entries
