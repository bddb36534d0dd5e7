-- How many of the requested seats are filled, and how fast, counted once for the programme: a seat offered to three
-- agencies is one seat. An approved requisition counts in the month of its approval, even if it was cancelled later.
-- Grain: one row per company, project and month of approval.
-- Question: How much demand do we fill, and how long does each step take?
-- Sources: star.fact_assignment, star.fact_requisition
-- Measures: sum requisitions, cancelled_requisitions, seats, filled_seats, cancelled_seats, submitted, accepted,
--   started; ratio fill_ratio = filled_seats / seats; ratio live_fill_ratio = filled_seats / (seats - cancelled_seats);
--   average avg_days_to_submit by submitted; average avg_days_to_accept by accepted; average avg_days_to_start by
--   started
-- Columns:
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   month_start_date date key: First day of the month of the final approval, in the reporting zone.
--   requisitions integer: Requisitions approved in the month.
--   cancelled_requisitions integer: Requisitions approved in the month and cancelled or rejected since.
--   seats numeric(18,4): Workers asked for; the denominator of fill_ratio.
--   filled_seats numeric(18,4): Seats that have a worker, at most as many per requisition as it asks for; the numerator of
--     fill_ratio.
--   cancelled_seats numeric(18,4): Seats without a worker on requisitions that were cancelled or rejected.
--   fill_ratio double precision: filled_seats / seats.
--   live_fill_ratio double precision: Share of the seats still wanted that are filled: filled_seats over seats less
--     cancelled_seats.
--   submitted integer: Requisitions with a worker put forward; the denominator of avg_days_to_submit.
--   avg_days_to_submit double precision: Days from the approval to the first worker put forward.
--   accepted integer: Requisitions that an agency accepted; the denominator of avg_days_to_accept.
--   avg_days_to_accept double precision: Days from the approval to the first acceptance by an agency.
--   started integer: Requisitions on which an assignment has begun; the denominator of avg_days_to_start.
--   avg_days_to_start double precision: Calendar days from the approval to the first day of the first assignment.
with
-- Include: engagement

first_day as (
  select e.requisition_id, min(e.start_date) as start_date
  from engagement as e
  where e.start_date <= :today
  group by e.requisition_id
),

demand as (
  select
    r.company_id,
    r.project_id,
    cast(date_trunc('month', r.approved_date) as date) as month_start_date,
    coalesce(r.status, '') in ('cancelled', 'rejected') as is_over,
    coalesce(r.quantity, 0) as seats,
    least(coalesce(r.quantity, 0), coalesce(r.assigned_total, 0)) as filled,
    cast(extract(epoch from (r.first_submitted_at - r.approved_at)) as numeric(18, 3)) as submit_seconds,
    cast(extract(epoch from (r.first_accepted_at - r.approved_at)) as numeric(18, 3)) as accept_seconds,
    cast(d.start_date - r.approved_date as integer) as start_days
  from star.fact_requisition as r
  left join first_day as d on d.requisition_id = r.requisition_id
  where not r.is_deleted and r.approved_at is not null
),

summed as (
  select
    d.company_id,
    d.project_id,
    d.month_start_date,
    count(*) as requisitions,
    count(*) filter (where d.is_over) as cancelled_requisitions,
    sum(d.seats) as seats,
    sum(d.filled) as filled_seats,
    sum(case when d.is_over then d.seats - d.filled else 0 end) as cancelled_seats,
    count(d.submit_seconds) as submitted,
    sum(d.submit_seconds) as submit_seconds,
    count(d.accept_seconds) as accepted,
    sum(d.accept_seconds) as accept_seconds,
    count(d.start_days) as started,
    sum(d.start_days) as start_days
  from demand as d
  group by d.company_id, d.project_id, d.month_start_date
)

select
  s.company_id,
  s.project_id,
  s.month_start_date,
  s.requisitions,
  s.cancelled_requisitions,
  s.seats,
  s.filled_seats,
  s.cancelled_seats,
  cast(s.filled_seats as double precision) / nullif(cast(s.seats as double precision), 0) as fill_ratio,
  cast(s.filled_seats as double precision)
    / nullif(cast(s.seats - s.cancelled_seats as double precision), 0) as live_fill_ratio,
  s.submitted,
  cast(s.submit_seconds as double precision) / nullif(s.submitted, 0) / 86400.0 as avg_days_to_submit,
  s.accepted,
  cast(s.accept_seconds as double precision) / nullif(s.accepted, 0) / 86400.0 as avg_days_to_accept,
  s.started,
  cast(s.start_days as double precision) / nullif(s.started, 0) as avg_days_to_start
from summed as s
