-- Time to fill: days from the approval of a requisition to an agency's acceptance, for each group, without outliers.
-- :definition is one row of choices (the columns of ops.metric_definition), or several that differ in `choice`, :asked
-- one row per grouping (group_by, by_company, by_project, by_agency, by_month, by_week), :range a condition on
-- company_id, project_id, agency_id and local_at, the moment of acceptance as clocks of the zone show it.
with definition as (
  :definition
),

asked as (
  :asked
),

-- Where a quantile lies in the sorted values, from 0, as a share p of n of them: by_ceil * (ceil(pn) - 1)
-- + by_floor * floor(pn) + by_line * (p * (n + more) + less); between two values it is the one weighted with the other.
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
    -- One for each decimal kept; 0 leaves figures as they are computed.
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
  where :range
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

-- The days of a group as one sorted list: a quantile is then looked up by its place.
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

-- What is kept lies together in the sorted list, behind those that are below the bounds.
kept as (
  select
    judged.group_by, judged.group_key,
    cast(sum(case when judged.is_kept then 1 else 0 end) as double precision) as kept_size,
    cast(sum(case when judged.is_below then 1 else 0 end) as double precision) as below,
    sum(case when judged.is_kept then judged.days end) as kept_days
  from judged
  group by judged.group_by, judged.group_key
),

kept_spotted as (
  select
    bounded.*, kept.kept_size, kept.below, kept.kept_days,
    value_by_ceil * (ceil(0.25 * kept_size) - 1) + value_by_floor * floor(0.25 * kept_size)
      + value_by_line * (0.25 * (kept_size + value_more) + value_less) as p25_spot,
    value_by_ceil * (ceil(0.5 * kept_size) - 1) + value_by_floor * floor(0.5 * kept_size)
      + value_by_line * (0.5 * (kept_size + value_more) + value_less) as median_spot,
    value_by_ceil * (ceil(0.75 * kept_size) - 1) + value_by_floor * floor(0.75 * kept_size)
      + value_by_line * (0.75 * (kept_size + value_more) + value_less) as p75_spot
  from bounded
  join kept on kept.group_by = bounded.group_by and kept.group_key = bounded.group_key
),

neighboured as (
  select
    kept_spotted.*,
    days[cast(below + least(kept_size, greatest(1, floor(p25_spot) + 1)) as integer)] as p25_low,
    days[cast(below + least(kept_size, greatest(1, floor(p25_spot) + 2)) as integer)] as p25_high,
    days[cast(below + least(kept_size, greatest(1, floor(median_spot) + 1)) as integer)] as median_low,
    days[cast(below + least(kept_size, greatest(1, floor(median_spot) + 2)) as integer)] as median_high,
    days[cast(below + least(kept_size, greatest(1, floor(p75_spot) + 1)) as integer)] as p75_low,
    days[cast(below + least(kept_size, greatest(1, floor(p75_spot) + 2)) as integer)] as p75_high
  from kept_spotted
),

figures as (
  select
    group_by, group_key, company_id, project_id, agency_id, month_key, week_key, factor,
    cast(size as bigint) as raw_count, cast(size - kept_size as bigint) as excluded_outliers,
    cast(kept_size as bigint) as kept_count, lower_bound, upper_bound, kept_days,
    kept_days / nullif(kept_size, 0) as average_days,
    case when kept_size > 0 then days[cast(below + 1 as integer)] end as min_days,
    case when kept_size > 0 then days[cast(below + kept_size as integer)] end as max_days,
    case when kept_size > 0 then p25_low + (p25_spot - floor(p25_spot)) * (p25_high - p25_low) end as p25_days,
    case when kept_size > 0 then median_low + (median_spot - floor(median_spot)) * (median_high - median_low) end
      as median_days,
    case when kept_size > 0 then p75_low + (p75_spot - floor(p75_spot)) * (p75_high - p75_low) end as p75_days
  from neighboured
),

shown as (
  select
    group_by, group_key, company_id, project_id, agency_id, month_key, week_key, raw_count, excluded_outliers,
    case when factor = 0 then lower_bound else floor(lower_bound * factor + 0.5) / factor end as lower_bound,
    case when factor = 0 then upper_bound else floor(upper_bound * factor + 0.5) / factor end as upper_bound,
    kept_count, kept_days,
    case when factor = 0 then average_days else floor(average_days * factor + 0.5) / factor end as average_days,
    case when factor = 0 then median_days else floor(median_days * factor + 0.5) / factor end as median_days,
    case when factor = 0 then min_days else floor(min_days * factor + 0.5) / factor end as min_days,
    case when factor = 0 then max_days else floor(max_days * factor + 0.5) / factor end as max_days,
    case when factor = 0 then p25_days else floor(p25_days * factor + 0.5) / factor end as p25_days,
    case when factor = 0 then p75_days else floor(p75_days * factor + 0.5) / factor end as p75_days
  from figures
)

select * from shown
