-- Lists every acceptance that time to fill counts, with its days and whether it is an outlier in each of its groups, and apart
-- from them those of companies that the service's rule leaves out. Adds the service's other time to fill, from creation to
-- offer.
-- Grain: one row per requisition and agency that accepted it.
-- Question: Which requisitions are the outliers?
-- Sources: ops.metric_definition, star.dim_agency, star.fact_assignment, star.fact_recruitment_metric_row,
-- star.fact_requisition, star.fact_requisition_agency, star.fact_submission
-- Measures: average approved_to_accepted_days, created_to_offer_days, time_to_submit_days, submit_to_accept_days,
--   time_to_start_days, time_to_last_seat_days; sum assigned_workers
-- Columns:
--   requisition_id text key: The requisition.
--   agency_id text key: The agency that accepted it.
--   reference text: Reference of the requisition.
--   company_id text: Company of the requisition.
--   project_id text: Project of the requisition.
--   trade_id text: Trade of the requisition.
--   approved_at timestamptz: When the requisition was finally approved.
--   accepted_at timestamptz: When the agency accepted it.
--   approved_to_accepted_days numeric(14,4): Days from approval to acceptance, in the unit of the definition in force.
--   is_counted boolean: Whether the service's rule counts its company: it may leave out those without stage tracking, as
--     calibration finds. Where it does not, only is_outlier_trade says whether it is an outlier; the others are empty.
--   is_outlier_all boolean: Whether it is an outlier among all acceptances that count.
--   is_outlier_company boolean: Whether it is an outlier in its company.
--   is_outlier_project boolean: Whether it is an outlier in its project.
--   is_outlier_agency boolean: Whether it is an outlier in its agency.
--   is_outlier_month boolean: Whether it is an outlier in its month.
--   is_outlier_week boolean: Whether it is an outlier in its week.
--   is_outlier_trade boolean: Whether it is an outlier in its trade: more than 1.5 interquartile ranges beyond the
--     quartiles, which are interpolated. The service has no such group; one unknown trade is a group too.
--   created_to_offer_days integer: Days from creation to the first offer, else to the acceptance, as the service counts them
--     in its rows; null without a tracked worker.
--   assigned_workers integer: Workers of the agency assigned, as the requisition says: 0 when it accepted and filled no seat.
--   time_to_submit_days numeric(14,4): Days from approval to the first worker that the agency put forward; empty without one.
--   submit_to_accept_days numeric(14,4): Days from that worker to the acceptance; below 0 when the agency accepted first.
--   time_to_start_days numeric(14,4): Calendar days from the day of approval to the first day of the agency's first assignment
--     that has begun; empty without one.
--   time_to_last_seat_days numeric(14,4): Days from approval to the creation of the assignment that took the last seat of the
--     requisition, whichever agency's; empty while seats are open, and not known where assignments are not stored.
with
-- Include: engagement

-- Include: placement_days

-- Include: metric_definitions

asked as (
-- Include: groupings
),

-- Include: time_to_fill_answers

ranged as (
  select elapsed.*
  from elapsed
  where elapsed.choice = ''
    or not exists (
      select 1 from ops.metric_definition as d where position(',' || elapsed.company_id || ',' in d.company_ids) > 0
    )
),

-- Include: time_to_fill_outliers

offer as (
  select
    metric_row.company_id, metric_row.requisition_reference, agency.agency_id,
    min(metric_row.created_to_offer_days) as days
  from star.fact_recruitment_metric_row as metric_row
  join star.dim_agency as agency on agency.name = metric_row.supplier_name
  where not metric_row.is_deleted
  group by metric_row.company_id, metric_row.requisition_reference, agency.agency_id
),

-- The bounds of all groups of a cell are side by side, so that each acceptance is compared once.
cell_bound as (
  select
    cell_group.cell, max(bounded.bounds) as bounds,
    max(case when bounded.group_by = 'all' then bounded.lower_bound end) as all_lower,
    max(case when bounded.group_by = 'all' then bounded.upper_bound end) as all_upper,
    max(case when bounded.group_by = 'company' then bounded.lower_bound end) as company_lower,
    max(case when bounded.group_by = 'company' then bounded.upper_bound end) as company_upper,
    max(case when bounded.group_by = 'project' then bounded.lower_bound end) as project_lower,
    max(case when bounded.group_by = 'project' then bounded.upper_bound end) as project_upper,
    max(case when bounded.group_by = 'agency' then bounded.lower_bound end) as agency_lower,
    max(case when bounded.group_by = 'agency' then bounded.upper_bound end) as agency_upper,
    max(case when bounded.group_by = 'month' then bounded.lower_bound end) as month_lower,
    max(case when bounded.group_by = 'month' then bounded.upper_bound end) as month_upper,
    max(case when bounded.group_by = 'week' then bounded.lower_bound end) as week_lower,
    max(case when bounded.group_by = 'week' then bounded.upper_bound end) as week_upper
  from cell_group
  join bounded on bounded.number = cell_group.number
  group by cell_group.cell
),

-- A value on a bound is an outlier unless bounds are inclusive. Without bounds there are no outliers.
judged as (
  select
    a.*,
    coalesce(a.days < b.all_lower or a.days > b.all_upper
      or (b.bounds <> 'inclusive' and a.days in (b.all_lower, b.all_upper)), false) as is_outlier_all,
    coalesce(a.days < b.company_lower or a.days > b.company_upper
      or (b.bounds <> 'inclusive' and a.days in (b.company_lower, b.company_upper)), false) as is_outlier_company,
    coalesce(a.days < b.project_lower or a.days > b.project_upper
      or (b.bounds <> 'inclusive' and a.days in (b.project_lower, b.project_upper)), false) as is_outlier_project,
    coalesce(a.days < b.agency_lower or a.days > b.agency_upper
      or (b.bounds <> 'inclusive' and a.days in (b.agency_lower, b.agency_upper)), false) as is_outlier_agency,
    coalesce(a.days < b.month_lower or a.days > b.month_upper
      or (b.bounds <> 'inclusive' and a.days in (b.month_lower, b.month_upper)), false) as is_outlier_month,
    coalesce(a.days < b.week_lower or a.days > b.week_upper
      or (b.bounds <> 'inclusive' and a.days in (b.week_lower, b.week_upper)), false) as is_outlier_week
  from acceptance as a
  join cell_bound as b on b.cell = a.cell
),

flagged as (
  select
    judged.requisition_id, judged.agency_id, max(judged.reference) as reference,
    min(judged.approved_at) as approved_at, min(judged.accepted_at) as accepted_at, min(judged.days) as days,
    bool_or(judged.is_outlier_all) as is_outlier_all,
    bool_or(judged.is_outlier_company) as is_outlier_company,
    bool_or(judged.is_outlier_project) as is_outlier_project,
    bool_or(judged.is_outlier_agency) as is_outlier_agency,
    bool_or(judged.is_outlier_month) as is_outlier_month,
    bool_or(judged.is_outlier_week) as is_outlier_week,
    max(judged.company_id) as company_id, max(judged.project_id) as project_id
  from judged
  group by judged.requisition_id, judged.agency_id
),

trade_quartile as (
  select
    r.trade_id,
    percentile_cont(0.25) within group (order by cast(f.days as double precision)) as q1,
    percentile_cont(0.75) within group (order by cast(f.days as double precision)) as q3
  from flagged as f
  left join star.fact_requisition as r on r.requisition_id = f.requisition_id
  group by r.trade_id
)

select
  flagged.requisition_id, flagged.agency_id, flagged.reference, flagged.company_id, flagged.project_id,
  requisition.trade_id,
  flagged.approved_at, flagged.accepted_at, flagged.days as approved_to_accepted_days,
  left_out.company_id is null as is_counted,
  case when left_out.company_id is null then flagged.is_outlier_all end as is_outlier_all,
  case when left_out.company_id is null then flagged.is_outlier_company end as is_outlier_company,
  case when left_out.company_id is null then flagged.is_outlier_project end as is_outlier_project,
  case when left_out.company_id is null then flagged.is_outlier_agency end as is_outlier_agency,
  case when left_out.company_id is null then flagged.is_outlier_month end as is_outlier_month,
  case when left_out.company_id is null then flagged.is_outlier_week end as is_outlier_week,
  coalesce(
    flagged.days < quartile.q1 - 1.5 * (quartile.q3 - quartile.q1)
      or flagged.days > quartile.q3 + 1.5 * (quartile.q3 - quartile.q1),
    false
  ) as is_outlier_trade,
  offer.days as created_to_offer_days,
  coalesce(placed.assigned_workers, 0) as assigned_workers,
  cast(placed.submit_seconds as double precision) / 86400.0 as time_to_submit_days,
  cast(extract(epoch from (flagged.accepted_at - placed.submitted_at)) as double precision) / 86400.0 as submit_to_accept_days,
  cast(placed.start_seconds as double precision) / 86400.0 as time_to_start_days,
  cast(placed.last_seat_seconds as double precision) / 86400.0 as time_to_last_seat_days
from flagged
left join (
  select distinct r.company_id
  from ranged as r
  where r.choice <> ''
) as left_out on left_out.company_id = flagged.company_id
left join placement_days as placed
  on placed.requisition_id = flagged.requisition_id and placed.agency_id = flagged.agency_id
left join star.fact_requisition as requisition on requisition.requisition_id = flagged.requisition_id
left join trade_quartile as quartile on quartile.trade_id = requisition.trade_id
left join offer on offer.company_id = flagged.company_id and offer.requisition_reference = flagged.reference
  and offer.agency_id = flagged.agency_id
