-- mart.open_demand has every open requisition that asks for workers, with the same open quantity as in star.
-- Severity: error
-- Sources: mart.open_demand, star.fact_requisition, star.dim_entity_status
-- Next: check that star.dim_entity_status has each state of a requisition once; the previous rows stay until the check passes
select coalesce(m.requisition_id, s.requisition_id) as record
from mart.open_demand as m
full join (
  select r.requisition_id, coalesce(r.open_quantity, r.quantity) as open_quantity
  from star.fact_requisition as r
  where not r.is_deleted and coalesce(r.open_quantity, r.quantity, 1) > 0 and not exists (
    select 1 from star.dim_entity_status as e where e.entity = 'requisition' and e.status = r.status and not e.is_open)
) as s on s.requisition_id = m.requisition_id
where m.requisition_id is null or s.requisition_id is null or m.open_quantity is distinct from s.open_quantity
