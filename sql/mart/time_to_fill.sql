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
--   match_status text: Whether it is equal, explained or unexplained, as the last cross-check found; not checked where it did not compare.
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

kept as (
  select
    judged.group_by, judged.group_key, judged.days,
    row_number() over (partition by judged.group_by, judged.group_key order by judged.days) as place
  from judged
  where judged.is_kept
),

kept_position as (
  select
    sized.group_by, sized.group_key, sized.size, share.share,
    case asking.value_quantiles
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
    select kept.group_by, kept.group_key, cast(count(*) as double precision) as size
    from kept group by kept.group_by, kept.group_key
  ) as sized
  cross join (
    select cast(0.25 as double precision) as share union all select cast(0.5 as double precision)
    union all select cast(0.75 as double precision)
  ) as share
  join asking on asking.group_by = sized.group_by
),

kept_quantile as (
  select
    kept_position.group_by, kept_position.group_key, kept_position.share,
    max(case when kept.place = least(kept_position.size, greatest(1, floor(kept_position.spot) + 1)) then kept.days end)
      + max(kept_position.spot - floor(kept_position.spot)) * (
        max(case when kept.place = least(kept_position.size, greatest(1, floor(kept_position.spot) + 2)) then kept.days end)
        - max(case when kept.place = least(kept_position.size, greatest(1, floor(kept_position.spot) + 1)) then kept.days end)
      ) as days
  from kept_position
  join kept on kept.group_by = kept_position.group_by and kept.group_key = kept_position.group_key
  group by kept_position.group_by, kept_position.group_key, kept_position.share
),

summary as (
  select
    judged.group_by, judged.group_key, max(judged.company_id) as company_id, max(judged.project_id) as project_id,
    max(judged.agency_id) as agency_id, max(judged.month_key) as month_key, max(judged.week_key) as week_key,
    count(*) as raw_count, sum(case when judged.is_kept then 0 else 1 end) as excluded_outliers,
    max(judged.lower_bound) as lower_bound, max(judged.upper_bound) as upper_bound,
    sum(case when judged.is_kept then 1 else 0 end) as kept_count,
    sum(case when judged.is_kept then judged.days end) as kept_days,
    avg(case when judged.is_kept then judged.days end) as average_days,
    min(case when judged.is_kept then judged.days end) as min_days,
    max(case when judged.is_kept then judged.days end) as max_days
  from judged
  group by judged.group_by, judged.group_key
),

figures as (
  select
    summary.group_by, summary.group_key, summary.company_id, summary.project_id, summary.agency_id,
    summary.month_key, summary.week_key, cast(summary.raw_count as bigint) as raw_count,
    cast(summary.excluded_outliers as bigint) as excluded_outliers,
    cast(summary.kept_count as bigint) as kept_count, summary.lower_bound, summary.upper_bound,
    summary.kept_days, summary.average_days, median.days as median_days, summary.min_days, summary.max_days,
    p25.days as p25_days, p75.days as p75_days, asking.factor
  from summary
  join asking on asking.group_by = summary.group_by
  left join kept_quantile as p25
    on p25.group_by = summary.group_by and p25.group_key = summary.group_key and p25.share = 0.25
  left join kept_quantile as median
    on median.group_by = summary.group_by and median.group_key = summary.group_key and median.share = 0.5
  left join kept_quantile as p75
    on p75.group_by = summary.group_by and p75.group_key = summary.group_key and p75.share = 0.75
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
    max(case crosscheck.verdict when 'unexplained' then 2 when 'explained' then 1 else 0 end) as severity
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
  case checked.severity when 0 then 'equal' when 1 then 'explained' when 2 then 'unexplained' else 'not checked' end
    as match_status,
  definition.definition_id as metric_definition_id
from shown
cross join definition
left join checked on checked.group_by = shown.group_by and checked.group_key = shown.group_key
