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

asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.quantiles, definition.value_quantiles,
    definition.bounds, definition.least_for_rule,
    cast(case when definition.days_decimals is null then 0 else power(10.0, definition.days_decimals) end
      as double precision) as factor
  from definition
  cross join asked
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

ranked as (
  select
    member.group_by, member.group_key, member.days,
    row_number() over (partition by member.group_by, member.group_key order by member.days) as place
  from member
),
position_of as (
  select
    sized.group_by, sized.group_key, sized.size, share.share,
    case asking.quantiles
      when 'type6' then (sized.size + 1) * share.share - 1
      when 'type5' then sized.size * share.share - 0.5
      when 'type8' then (sized.size + cast(1 as double precision) / 3) * share.share - cast(2 as double precision) / 3
      when 'type2' then case when sized.size * share.share = floor(sized.size * share.share)
        then sized.size * share.share - 0.5 else ceil(sized.size * share.share) - 1 end
      when 'nearestRank' then ceil(sized.size * share.share) - 1
      when 'floorIndex' then floor(sized.size * share.share)
      else (sized.size - 1) * share.share
    end as spot
  from (
    select ranked.group_by, ranked.group_key, cast(count(*) as double precision) as size
    from ranked group by ranked.group_by, ranked.group_key
  ) as sized
  cross join (
    select cast(0.25 as double precision) as share union all select cast(0.75 as double precision)
  ) as share
  join asking on asking.group_by = sized.group_by
),

quartile as (
  select
    position_of.group_by, position_of.group_key, position_of.share,
    max(case when ranked.place = least(position_of.size, greatest(1, floor(position_of.spot) + 1)) then ranked.days end)
      + max(position_of.spot - floor(position_of.spot)) * (
        max(case when ranked.place = least(position_of.size, greatest(1, floor(position_of.spot) + 2)) then ranked.days end)
        - max(case when ranked.place = least(position_of.size, greatest(1, floor(position_of.spot) + 1)) then ranked.days end)
      ) as days
  from position_of
  join ranked on ranked.group_by = position_of.group_by and ranked.group_key = position_of.group_key
  group by position_of.group_by, position_of.group_key, position_of.share
),

bound as (
  select
    low.group_by, low.group_key,
    case when sized.size >= asking.least_for_rule then low.days - 1.5 * (high.days - low.days) end as lower_bound,
    case when sized.size >= asking.least_for_rule then high.days + 1.5 * (high.days - low.days) end as upper_bound
  from quartile as low
  join quartile as high on high.group_by = low.group_by and high.group_key = low.group_key and high.share = 0.75
  join position_of as sized on sized.group_by = low.group_by and sized.group_key = low.group_key and sized.share = 0.25
  join asking on asking.group_by = low.group_by
  where low.share = 0.25
),

judged as (
  select
    member.group_by, member.group_key, member.company_id, member.project_id, member.agency_id, member.month_key,
    member.week_key, member.requisition_id, member.reference, member.answered_by, member.approved_at,
    member.accepted_at, member.days, bound.lower_bound, bound.upper_bound,
    case
      when bound.lower_bound is null then true
      when asking.bounds = 'exclusive' then member.days > bound.lower_bound and member.days < bound.upper_bound
      else member.days >= bound.lower_bound and member.days <= bound.upper_bound
    end as is_kept
  from member
  join bound on bound.group_by = member.group_by and bound.group_key = member.group_key
  join asking on asking.group_by = member.group_by
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
