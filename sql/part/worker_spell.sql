-- The days on which a worker was engaged by a company through an agency. One row for each assignment that took place and has
-- begun; the last day is empty while no end is known. Reads the part engagement.
worker_spell as (
  select e.worker_id, e.company_id, e.agency_id, e.start_date, e.last_date
  from engagement as e
  where e.worker_id <> '-1' and e.start_date is not null and e.start_date <= :today
    and (e.last_date is null or e.last_date >= e.start_date)
),
