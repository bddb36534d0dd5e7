-- Days from the approval of a requisition to an agency's acceptance, for each group, without outliers; beside it what the
-- service itself answers. Outliers lie beyond the quartiles of their group by more than 1.5 interquartile ranges.
-- The text down to `shown` is that of sql/metric/time_to_fill.sql; a test holds them together.
-- Grain: one row per grouping and group.
-- Question: How long from approval to an agency's acceptance, without outliers?
-- Sources: ops.crosscheck, ops.metric_definition, star.fact_requisition, star.fact_requisition_agency
-- Columns:
--   group_by text key: Grouping: all, or its keys with commas between.
--   group_key text key: Values of the keys with bars between: ids, month as YYYY-MM, first day of the week; empty for all.
--   company_id text: Company of the group, where grouped by company.
--   project_id text: Project of the group, where grouped by project.
--   agency_id text: Agency of the group, where grouped by agency.
--   month_start_date date: First day of the month, where grouped by month.
--   week_start_date date: First day of the week, where grouped by week.
--   raw_count bigint: Acceptances in the group, outliers included.
--   excluded_outliers bigint: Acceptances left out by the outlier rule.
--   kept_count bigint: Acceptances within the bounds.
--   kept_days numeric(18,4): Days of those within the bounds, added up; the numerator of average_days.
--   lower_bound numeric(14,4): Q1 less 1.5 interquartile ranges, in days; null where the group is too small for the rule.
--   upper_bound numeric(14,4): Q3 plus 1.5 interquartile ranges, in days; null where the group is too small for the rule.
--   average_days numeric(14,4): Average days of those within the bounds: kept_days by kept_count.
--   median_days numeric(14,4): Median days of those within the bounds.
--   min_days numeric(14,4): Fewest days of those within the bounds.
--   max_days numeric(14,4): Most days of those within the bounds.
--   p25_days numeric(14,4): First quartile of days of those within the bounds.
--   p75_days numeric(14,4): Third quartile of days of those within the bounds.
--   api_raw_count bigint: What the service answered at the last cross-check: rawCount.
--   api_excluded_outliers bigint: What the service answered at the last cross-check: excludedOutliers.
--   api_kept_count bigint: What the service answered at the last cross-check: count.
--   api_lower_bound numeric(14,4): What the service answered at the last cross-check: lower.
--   api_upper_bound numeric(14,4): What the service answered at the last cross-check: upper.
--   api_average_days numeric(14,4): What the service answered at the last cross-check: averageDays.
--   api_median_days numeric(14,4): What the service answered at the last cross-check: medianDays.
--   api_min_days numeric(14,4): What the service answered at the last cross-check: minDays.
--   api_max_days numeric(14,4): What the service answered at the last cross-check: maxDays.
--   api_p25_days numeric(14,4): What the service answered at the last cross-check: p25Days.
--   api_p75_days numeric(14,4): What the service answered at the last cross-check: p75Days.
--   average_days_difference numeric(14,4): Our average less the service's, in days.
--   match_status text: Whether it is equal, explained, uncovered or unexplained, as the last cross-check found; not checked where it did not compare.
--   metric_definition_id text: Definition in force: default, or the calibrated one.
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
  union all select 'company,month', true, false, false, true, false
  union all select 'project,month', false, true, false, true, false
  union all select 'agency,month', false, false, true, true, false
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
),

checked as (
  select
    crosscheck.group_by, crosscheck.group_key,
    max(case when crosscheck.figure = 'rawCount' then crosscheck.theirs end) as raw_count,
    max(case when crosscheck.figure = 'excludedOutliers' then crosscheck.theirs end) as excluded_outliers,
    max(case when crosscheck.figure = 'count' then crosscheck.theirs end) as kept_count,
    max(case when crosscheck.figure = 'lower' then crosscheck.theirs end) as lower_bound,
    max(case when crosscheck.figure = 'upper' then crosscheck.theirs end) as upper_bound,
    max(case when crosscheck.figure = 'averageDays' then crosscheck.theirs end) as average_days,
    max(case when crosscheck.figure = 'medianDays' then crosscheck.theirs end) as median_days,
    max(case when crosscheck.figure = 'minDays' then crosscheck.theirs end) as min_days,
    max(case when crosscheck.figure = 'maxDays' then crosscheck.theirs end) as max_days,
    max(case when crosscheck.figure = 'p25Days' then crosscheck.theirs end) as p25_days,
    max(case when crosscheck.figure = 'p75Days' then crosscheck.theirs end) as p75_days,
    max(case crosscheck.verdict when 'unexplained' then 3 when 'uncovered' then 2 when 'explained' then 1 else 0 end) as severity
  from ops.crosscheck as crosscheck
  where crosscheck.metric = 'timeToFill'
  group by crosscheck.group_by, crosscheck.group_key
)

select
  shown.group_by, shown.group_key, shown.company_id, shown.project_id, shown.agency_id,
  cast(shown.month_key || '-01' as date) as month_start_date, cast(shown.week_key as date) as week_start_date,
  shown.raw_count, shown.excluded_outliers, shown.kept_count, shown.kept_days, shown.lower_bound, shown.upper_bound,
  shown.average_days, shown.median_days, shown.min_days, shown.max_days, shown.p25_days, shown.p75_days,
  checked.raw_count as api_raw_count,
  checked.excluded_outliers as api_excluded_outliers,
  checked.kept_count as api_kept_count,
  checked.lower_bound as api_lower_bound,
  checked.upper_bound as api_upper_bound,
  checked.average_days as api_average_days,
  checked.median_days as api_median_days,
  checked.min_days as api_min_days,
  checked.max_days as api_max_days,
  checked.p25_days as api_p25_days,
  checked.p75_days as api_p75_days,
  shown.average_days - checked.average_days as average_days_difference,
  case checked.severity when 0 then 'equal' when 1 then 'explained' when 2 then 'uncovered' when 3 then 'unexplained' else 'not checked' end
    as match_status,
  definition.definition_id as metric_definition_id
from shown
cross join definition
left join checked on checked.group_by = shown.group_by and checked.group_key = shown.group_key
