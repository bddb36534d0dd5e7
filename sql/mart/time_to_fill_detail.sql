-- Every acceptance that time to fill counts, with its days and whether it is an outlier of each of its groups; beside it
-- the service's other time to fill, from creation to offer, which is another measure.
-- The text down to `judged` is that of sql/metric/time_to_fill.sql; a test holds them together.
-- Grain: one row per requisition and agency that accepted it.
-- Question: Which requisitions are the outliers?
-- Sources: ops.metric_definition, star.dim_agency, star.fact_recruitment_metric_row, star.fact_requisition, star.fact_requisition_agency
-- Columns:
--   requisition_id text key: The requisition.
--   agency_id text key: The agency that accepted it.
--   reference text: Reference of the requisition.
--   company_id text: Company of the requisition.
--   project_id text: Project of the requisition.
--   approved_at timestamptz: When the requisition was finally approved.
--   accepted_at timestamptz: When the agency accepted it.
--   approved_to_accepted_days numeric(14,4): Days from approval to acceptance, in the unit of the definition in force.
--   is_outlier_all boolean: Whether it is an outlier among all acceptances.
--   is_outlier_company boolean: Whether it is an outlier in its company.
--   is_outlier_project boolean: Whether it is an outlier in its project.
--   is_outlier_agency boolean: Whether it is an outlier in its agency.
--   is_outlier_month boolean: Whether it is an outlier in its month.
--   is_outlier_week boolean: Whether it is an outlier in its week.
--   created_to_offer_days integer: Days from creation to the first offer, else to the acceptance, as the service counts them in its rows; null without a tracked worker.
with definition as (
  select * from ops.metric_definition
),

asked as (
  select 'all' as group_by, false as by_company, false as by_project, false as by_agency, false as by_month, false as by_week
  union all select 'company', true, false, false, false, false
  union all select 'project', false, true, false, false, false
  union all select 'agency', false, false, true, false, false
  union all select 'month', false, false, false, true, false
  union all select 'week', false, false, false, false, true
),
method as (
  select
    listed.method, cast(listed.by_ceil as double precision) as by_ceil, cast(listed.by_floor as double precision) as by_floor,
    cast(listed.by_line as double precision) as by_line, cast(listed.more_thirds as double precision) / 3 as more,
    cast(listed.less_sixths as double precision) / 6 as less
  from (
    select 'type7' as method, 0.0 as by_ceil, 0.0 as by_floor, 1 as by_line, -3 as more_thirds, 0 as less_sixths
    union all select 'type6', 0.0, 0.0, 1, 3, -6
    union all select 'type5', 0.0, 0.0, 1, 0, -3
    union all select 'type8', 0.0, 0.0, 1, 1, -4
    union all select 'type2', 0.5, 0.5, 0, 0, 0
    union all select 'nearestRank', 1.0, 0.0, 0, 0, 0
    union all select 'floorIndex', 0.0, 1.0, 0, 0, 0
  ) as listed
),

asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.bounds, definition.least_for_rule,
    quartile.by_ceil, quartile.by_floor, quartile.by_line, quartile.more, quartile.less,
    quantile.by_ceil as value_by_ceil, quantile.by_floor as value_by_floor, quantile.by_line as value_by_line,
    quantile.more as value_more, quantile.less as value_less,
    cast(case when definition.days_decimals is null then 0 else power(10.0, definition.days_decimals) end
      as double precision) as factor
  from definition
  cross join asked
  join method as quartile on quartile.method = definition.quantiles
  join method as quantile on quantile.method = definition.value_quantiles
),

answer as (
  select
    requisition.requisition_id, requisition.reference, requisition.status, requisition.company_id,
    requisition.project_id, party.agency_id, requisition.approved_at, party.accepted_at,
    row_number() over (
      partition by requisition.requisition_id order by party.accepted_at, party.agency_ordinal
    ) as place,
    row_number() over (
      partition by requisition.requisition_id order by party.accepted_at desc, party.agency_ordinal desc
    ) as place_from_last
  from star.fact_requisition as requisition
  join star.fact_requisition_agency as party on party.requisition_id = requisition.requisition_id
  where not requisition.is_deleted and not party.is_deleted
    and requisition.approved_at is not null and party.accepted_at is not null
),

elapsed as (
  select
    answer.requisition_id, answer.reference, answer.company_id, answer.project_id, answer.agency_id,
    answer.approved_at, answer.accepted_at, definition.choice, definition.days, definition.week_start,
    answer.accepted_at at time zone definition.zone as local_at,
    cast(extract(epoch from (answer.accepted_at - answer.approved_at)) as double precision) / 86400.0 as fraction,
    cast(answer.accepted_at at time zone 'UTC' as date) - cast(answer.approved_at at time zone 'UTC' as date) as utc_days,
    cast(answer.accepted_at at time zone 'Europe/London' as date)
      - cast(answer.approved_at at time zone 'Europe/London' as date) as london_days
  from answer
  cross join definition
  where position(',' || coalesce(answer.status, '') || ',' in definition.requisition_statuses) > 0
    and (definition.company_ids = '' or position(',' || answer.company_id || ',' in definition.company_ids) > 0)
    and case definition.acceptance when 'earliest' then place = 1 when 'latest' then place_from_last = 1 else true end
),

acceptance as (
  select
    elapsed.choice, elapsed.requisition_id, elapsed.reference, elapsed.company_id, elapsed.project_id, elapsed.agency_id,
    elapsed.approved_at, elapsed.accepted_at,
    case elapsed.days
      when 'floor' then floor(elapsed.fraction)
      when 'ceil' then ceil(elapsed.fraction)
      when 'round' then floor(elapsed.fraction + 0.5)
      when 'calendarUtc' then cast(elapsed.utc_days as double precision)
      when 'calendarLondon' then cast(elapsed.london_days as double precision)
      else elapsed.fraction
    end as days,
    substr(cast(cast(elapsed.local_at as date) as text), 1, 7) as month_key,
    cast(
      cast(elapsed.local_at as date) - cast(mod(
        cast(extract(isodow from elapsed.local_at) as integer)
          + case elapsed.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) as week_key
  from elapsed
  where true
),

member as (
  select
    asking.group_by, acceptance.requisition_id, acceptance.reference, acceptance.agency_id as answered_by,
    acceptance.approved_at, acceptance.accepted_at, acceptance.days,
    case when asking.by_company then acceptance.company_id end as company_id,
    case when asking.by_project then acceptance.project_id end as project_id,
    case when asking.by_agency then acceptance.agency_id end as agency_id,
    case when asking.by_month then acceptance.month_key end as month_key,
    case when asking.by_week then acceptance.week_key end as week_key,
    concat_ws('|', case when asking.by_company then acceptance.company_id end,
      case when asking.by_project then acceptance.project_id end,
      case when asking.by_agency then acceptance.agency_id end,
      case when asking.by_month then acceptance.month_key end,
      case when asking.by_week then acceptance.week_key end) as group_key
  from acceptance
  join asking on asking.choice = acceptance.choice
),
listed as (
  select
    member.group_by, member.group_key, max(member.company_id) as company_id, max(member.project_id) as project_id,
    max(member.agency_id) as agency_id, max(member.month_key) as month_key, max(member.week_key) as week_key,
    cast(count(*) as double precision) as size, array_agg(member.days order by member.days) as days
  from member
  group by member.group_by, member.group_key
),

spotted as (
  select
    listed.*, asking.bounds, asking.least_for_rule, asking.factor, asking.value_by_ceil, asking.value_by_floor,
    asking.value_by_line, asking.value_more, asking.value_less,
    asking.by_ceil * (ceil(0.25 * listed.size) - 1) + asking.by_floor * floor(0.25 * listed.size)
      + asking.by_line * (0.25 * (listed.size + asking.more) + asking.less) as q1_spot,
    asking.by_ceil * (ceil(0.75 * listed.size) - 1) + asking.by_floor * floor(0.75 * listed.size)
      + asking.by_line * (0.75 * (listed.size + asking.more) + asking.less) as q3_spot
  from listed
  join asking on asking.group_by = listed.group_by
),

quartiled as (
  select
    spotted.*,
    days[cast(least(size, greatest(1, floor(q1_spot) + 1)) as integer)] + (q1_spot - floor(q1_spot)) * (
      days[cast(least(size, greatest(1, floor(q1_spot) + 2)) as integer)]
      - days[cast(least(size, greatest(1, floor(q1_spot) + 1)) as integer)]) as q1,
    days[cast(least(size, greatest(1, floor(q3_spot) + 1)) as integer)] + (q3_spot - floor(q3_spot)) * (
      days[cast(least(size, greatest(1, floor(q3_spot) + 2)) as integer)]
      - days[cast(least(size, greatest(1, floor(q3_spot) + 1)) as integer)]) as q3
  from spotted
),

bounded as (
  select
    quartiled.*,
    case when size >= least_for_rule then q1 - 1.5 * (q3 - q1) end as lower_bound,
    case when size >= least_for_rule then q3 + 1.5 * (q3 - q1) end as upper_bound
  from quartiled
),

judged as (
  select
    member.*,
    bounded.lower_bound is null
      or (member.days > bounded.lower_bound and member.days < bounded.upper_bound)
      or (bounded.bounds = 'inclusive' and member.days in (bounded.lower_bound, bounded.upper_bound)) as is_kept,
    bounded.lower_bound is not null and (member.days < bounded.lower_bound
      or (bounded.bounds = 'exclusive' and member.days = bounded.lower_bound)) as is_below
  from member
  join bounded on bounded.group_by = member.group_by and bounded.group_key = member.group_key
),

offer as (
  select
    metric_row.company_id, metric_row.requisition_reference, agency.agency_id,
    min(metric_row.created_to_offer_days) as days
  from star.fact_recruitment_metric_row as metric_row
  join star.dim_agency as agency on agency.name = metric_row.supplier_name
  where not metric_row.is_deleted
  group by metric_row.company_id, metric_row.requisition_reference, agency.agency_id
),

flagged as (
  select
    judged.requisition_id, judged.answered_by as agency_id, max(judged.reference) as reference,
    min(judged.approved_at) as approved_at, min(judged.accepted_at) as accepted_at, min(judged.days) as days,
    bool_or(judged.group_by = 'all' and not judged.is_kept) as is_outlier_all,
    bool_or(judged.group_by = 'company' and not judged.is_kept) as is_outlier_company,
    bool_or(judged.group_by = 'project' and not judged.is_kept) as is_outlier_project,
    bool_or(judged.group_by = 'agency' and not judged.is_kept) as is_outlier_agency,
    bool_or(judged.group_by = 'month' and not judged.is_kept) as is_outlier_month,
    bool_or(judged.group_by = 'week' and not judged.is_kept) as is_outlier_week,
    max(judged.company_id) as company_id, max(judged.project_id) as project_id
  from judged
  group by judged.requisition_id, judged.answered_by
)

select
  flagged.requisition_id, flagged.agency_id, flagged.reference, flagged.company_id, flagged.project_id,
  flagged.approved_at, flagged.accepted_at, flagged.days as approved_to_accepted_days,
  flagged.is_outlier_all,
  flagged.is_outlier_company,
  flagged.is_outlier_project,
  flagged.is_outlier_agency,
  flagged.is_outlier_month,
  flagged.is_outlier_week,
  offer.days as created_to_offer_days
from flagged
left join offer on offer.company_id = flagged.company_id and offer.requisition_reference = flagged.reference
  and offer.agency_id = flagged.agency_id
