-- When workers were put forward, began, and took the last seat, for each requisition and agency that accepted it. Reads the
-- part engagement.
first_submission as (
  select s.requisition_id, s.agency_id, min(s.submitted_at) as submitted_at
  from star.fact_submission as s
  where not s.is_deleted and s.submitted_at is not null
  group by s.requisition_id, s.agency_id
),

first_start as (
  select e.requisition_id, e.agency_id, min(e.start_date) as start_date
  from engagement as e
  where e.requisition_id is not null and e.start_date <= :today
  group by e.requisition_id, e.agency_id
),

seat_taken as (
  select
    a.requisition_id,
    a.created_at,
    row_number() over (partition by a.requisition_id order by a.created_at, a.assignment_id) as place
  from star.fact_assignment as a
  where not a.is_deleted and coalesce(a.status, '') <> 'cancelled' and a.requisition_id is not null and a.created_at is not null
),

assigned_party as (
  select p.requisition_id, p.agency_id, sum(coalesce(p.assigned, 0)) as assigned_workers
  from star.fact_requisition_agency as p
  where not p.is_deleted
  group by p.requisition_id, p.agency_id
),

approved_party as (
  select
    p.requisition_id,
    p.agency_id,
    p.assigned_workers,
    r.approved_at,
    r.approved_date,
    case when r.quantity > 0 then cast(ceil(r.quantity) as bigint) end as seats
  from assigned_party as p
  inner join star.fact_requisition as r on r.requisition_id = p.requisition_id
),

-- One row for each requisition and agency; the last seat is the same for all agencies of a requisition.
placement_days as (
  select
    p.requisition_id,
    p.agency_id,
    p.assigned_workers,
    cast(extract(epoch from (s.submitted_at - p.approved_at)) as numeric(18, 3)) as submit_seconds,
    s.submitted_at,
    cast(:days(f.start_date, p.approved_date) as numeric(18, 3)) * 86400 as start_seconds,
    cast(extract(epoch from (l.created_at - p.approved_at)) as numeric(18, 3)) as last_seat_seconds
  from approved_party as p
  left join first_submission as s on s.requisition_id = p.requisition_id and s.agency_id = p.agency_id
  left join first_start as f on f.requisition_id = p.requisition_id and f.agency_id = p.agency_id
  left join seat_taken as l on l.requisition_id = p.requisition_id and l.place = p.seats
),
