-- Requisitions that still ask for workers on the day of the build. A requisition can only be read by a known id: the last
-- two columns show how many of those that the service counts are stored.
-- Grain: one row per requisition that is open today.
-- Question: What is unfilled today, and which of it starts soon?
-- Sources: star.dim_company_setting, star.dim_entity_status, star.fact_recruitment_metric_row, star.fact_requisition
-- Measures: last quantity, assigned, live_open_quantity; none open_quantity, agencies; average days_open,
--   days_to_start, lead_time_days; max company_requisitions_stored, company_requisitions_counted within company_id
-- Columns:
--   snapshot_date date key: The day of the build, in the reporting zone.
--   requisition_id text key: The requisition.
--   requisition_reference text: Its reference.
--   status text: State of the requisition.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; '-1' when the record names none.
--   trade_id text: The trade; '-1' when the record names none.
--   quantity numeric(12,4): Workers asked for.
--   assigned integer: Workers assigned so far.
--   open_quantity numeric(12,4): Workers still to be found: quantity - assigned.
--   agencies integer: Agencies that it was offered to.
--   is_approved boolean: Whether it was approved; before that it is offered to no agency.
--   opened_date date: Day on which it was approved, else created, in the reporting zone.
--   days_open integer: Days since opened_date.
--   planned_start_date date: Day on which the work begins.
--   planned_end_date date: Day on which the work ends.
--   is_expired boolean: Whether planned_end_date is past: the requisition still asks for workers, but none can start any
--     more.
--   live_open_quantity numeric(12,4): Workers still to be found for work that has not ended; 0 when it has. Sum this
--     column.
--   days_to_start integer: Days until planned_start_date; below 0 when it is past.
--   lead_time_days integer: Days of notice that the company asks for; empty when it has no such setting.
--   is_inside_lead_time boolean: Whether the work begins within that notice, where the company has enabled the warning.
--   company_requisitions_stored integer: Requisitions that the service counts for the company and that are stored; the numerator of coverage.
--   company_requisitions_counted integer: Requisitions that the service counts for the company; the denominator of coverage.
with notice as (
  select
    company_id,
    max(case when setting_path = 'leadTimeWarning.days' then value_number end) as days,
    bool_or(setting_path = 'leadTimeWarning.enabled' and coalesce(value_boolean, false)) as is_enabled
  from star.dim_company_setting
  where not is_deleted and setting_path in ('leadTimeWarning.days', 'leadTimeWarning.enabled')
  group by company_id
),

counted as (
  select distinct company_id, requisition_reference
  from star.fact_recruitment_metric_row
  where not is_deleted and requisition_reference is not null
),

coverage as (
  select
    c.company_id,
    count(*) as counted,
    count(case when exists (
      select 1 from star.fact_requisition as r
      where r.company_id = c.company_id and r.reference = c.requisition_reference and not r.is_deleted
    ) then 1 end) as stored
  from counted as c
  group by c.company_id
)

select
  :today as snapshot_date,
  r.requisition_id,
  r.reference as requisition_reference,
  r.status,
  r.company_id,
  r.project_id,
  r.site_id,
  r.trade_id,
  r.quantity,
  coalesce(r.assigned_total, 0) as assigned,
  coalesce(r.open_quantity, r.quantity) as open_quantity,
  coalesce(r.agencies_count, 0) as agencies,
  r.approved_at is not null as is_approved,
  coalesce(r.approved_date, :day(r.created_at)) as opened_date,
  :days(:today, coalesce(r.approved_date, :day(r.created_at))) as days_open,
  r.planned_start_date,
  r.planned_end_date,
  coalesce(r.planned_end_date < :today, false) as is_expired,
  case
    when r.planned_end_date < :today then 0
    else coalesce(r.open_quantity, r.quantity)
  end as live_open_quantity,
  :days(r.planned_start_date, :today) as days_to_start,
  cast(floor(n.days) as integer) as lead_time_days,
  coalesce(n.is_enabled and :days(r.planned_start_date, :today) <= n.days, false) as is_inside_lead_time,
  coalesce(c.stored, 0) as company_requisitions_stored,
  coalesce(c.counted, 0) as company_requisitions_counted
from star.fact_requisition as r
left join star.dim_entity_status as state on state.entity = 'requisition' and state.status = r.status
left join notice as n on n.company_id = r.company_id
left join coverage as c on c.company_id = r.company_id
where not r.is_deleted and coalesce(state.is_open, true) and coalesce(r.open_quantity, r.quantity, 1) > 0;
