-- How long workers stay at each stage of recruitment, by the month in which they entered it. Every entry is an exit, open
-- now, or an end. Steps are ordered by date, not as the record lists them. Steps without a date belong to no month and do
-- not count as entries; a worker now at such a step has left the last dated stage.
-- Grain: one row per stage, agency, company, project and month of entry.
-- Question: Which stage is slow?
-- Sources: star.dim_entity_status, star.dim_recruitment_stage, star.fact_requisition, star.fact_stage_event, star.fact_submission_stage
-- Measures: sum entries, exits, open_now, ended_here, measured_exits, total_days; ratio avg_days = total_days /
--   measured_exits; none stage_ordinal, median_days, p90_days
-- Columns:
--   stage text key: The stage, as the service spells it.
--   agency_id text key: The agency; '-1' when the record names none.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   month_start_date date key: First day of the month of entry, in the reporting zone.
--   stage_label text: Readable name of the stage.
--   stage_ordinal integer: Position of the stage in the contract's list.
--   entries integer: Workers who entered the stage.
--   exits integer: Workers who moved on to another stage.
--   open_now integer: Workers who are still there: the stage is not terminal, they were not rejected, and the requisition
--     is open.
--   ended_here integer: Workers whose last stage it was, and who are no longer there.
--   measured_exits integer: Exits to a step that has a date: the denominator of the average.
--   total_days numeric(18,8): Days at the stage, over the measured exits; the numerator of the average.
--   avg_days double precision: total_days / measured_exits.
--   median_days numeric(18,6): Median of the measured exits; halfway between the two middle ones.
--   p90_days numeric(18,6): 90% of the measured exits took no longer; interpolated between two of them.
with entry as (
  select
    e.stage,
    e.agency_id,
    e.requisition_id,
    e.days_in_stage,
    cast(date_trunc('month', :day(e.event_at)) as date) as month_start_date,
    row_number() over (
      partition by e.submission_stage_key order by e.event_at desc nulls last, e.event_ordinal desc
    ) = 1 and not coalesce(bool_or(e.event_at is null and e.stage = s.current_stage) over (
      partition by e.submission_stage_key
    ), false) as is_last,
    coalesce(s.is_rejected, false) as is_rejected,
    e.event_at
  from star.fact_stage_event as e
  left join star.fact_submission_stage as s on s.submission_stage_key = e.submission_stage_key
  where not e.is_deleted
),

placed as (
  select
    entry.stage,
    entry.agency_id,
    coalesce(r.company_id, '-1') as company_id,
    coalesce(r.project_id, '-1') as project_id,
    entry.month_start_date,
    entry.is_last,
    entry.is_last and not entry.is_rejected and not coalesce(stage.is_terminal, false)
      and coalesce(state.is_open, true) and not coalesce(r.is_deleted, false) as is_open,
    cast(entry.days_in_stage as numeric(18, 8)) as days
  from entry
  left join star.fact_requisition as r on r.requisition_id = entry.requisition_id
  left join star.dim_entity_status as stage on stage.entity = 'recruitment_stage' and stage.status = entry.stage
  left join star.dim_entity_status as state on state.entity = 'requisition' and state.status = r.status
  where entry.event_at is not null and entry.stage is not null
),

ranked as (
  select
    placed.*,
    count(days) over same_group as measured,
    row_number() over (
      partition by stage, agency_id, company_id, project_id, month_start_date
      order by days nulls last
    ) as place
  from placed
  window same_group as (partition by stage, agency_id, company_id, project_id, month_start_date)
),

-- Exact decimals: percentile_cont differs between the engines in its last digit. The quantile of n tenths lies n *
-- (measured - 1) / 10 places after the first value.
weighed as (
  select
    ranked.*,
    greatest(10 - abs(5 * (measured - 1) - 10 * (place - 1)), 0) as median_tenths,
    greatest(10 - abs(9 * (measured - 1) - 10 * (place - 1)), 0) as p90_tenths
  from ranked
),

grouped as (
  select
    stage,
    agency_id,
    company_id,
    project_id,
    month_start_date,
    count(*) as entries,
    count(case when not is_last then 1 end) as exits,
    count(case when is_open then 1 end) as open_now,
    count(case when is_last and not is_open then 1 end) as ended_here,
    count(days) as measured_exits,
    sum(days) as total_days,
    sum(days * cast(median_tenths as integer)) as median_sum,
    sum(days * cast(p90_tenths as integer)) as p90_sum
  from weighed
  group by stage, agency_id, company_id, project_id, month_start_date
)

select
  g.stage,
  g.agency_id,
  g.company_id,
  g.project_id,
  g.month_start_date,
  coalesce(s.label, g.stage) as stage_label,
  s.ordinal as stage_ordinal,
  g.entries,
  g.exits,
  g.open_now,
  g.ended_here,
  g.measured_exits,
  g.total_days,
  cast(g.total_days as double precision) / nullif(g.measured_exits, 0) as avg_days,
  cast(g.median_sum as numeric(28, 8)) * cast(0.1 as numeric(2, 1)) as median_days,
  cast(g.p90_sum as numeric(28, 8)) * cast(0.1 as numeric(2, 1)) as p90_days
from grouped as g
left join star.dim_recruitment_stage as s on s.recruitment_stage_id = g.stage;
