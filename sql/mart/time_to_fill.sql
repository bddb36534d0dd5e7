-- Days from the approval of a requisition to an agency's acceptance, for each group, without outliers; beside the
-- service's own answer. Outliers lie beyond the quartiles of their group by more than 1.5 interquartile ranges.
-- Grain: one row per grouping and group.
-- Question: How long from approval to an agency's acceptance, without outliers?
-- Groups: group_by all, company, project, agency, month, week, company+month, project+month, agency+month
-- Sources: ops.crosscheck, ops.metric_definition, star.fact_requisition, star.fact_requisition_agency
-- Columns:
--   group_by text key: Grouping: all, or its keys separated by commas.
--   group_key text key: Values of the keys separated by bars: ids, month as YYYY-MM, first day of the week; empty for all.
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
--   average_days numeric(14,4): Average days of those within the bounds: kept_days divided by kept_count.
--   median_days numeric(14,4): Median days of those within the bounds.
--   min_days numeric(14,4): Fewest days of those within the bounds.
--   max_days numeric(14,4): Most days of those within the bounds.
--   p25_days numeric(14,4): First quartile of days of those within the bounds.
--   p75_days numeric(14,4): Third quartile of days of those within the bounds.
--   api_raw_count bigint: The service's answer at the last crosscheck: rawCount.
--   api_excluded_outliers bigint: The service's answer at the last crosscheck: excludedOutliers.
--   api_kept_count bigint: The service's answer at the last crosscheck: count.
--   api_lower_bound numeric(14,4): The service's answer at the last crosscheck: lower.
--   api_upper_bound numeric(14,4): The service's answer at the last crosscheck: upper.
--   api_average_days numeric(14,4): The service's answer at the last crosscheck: averageDays.
--   api_median_days numeric(14,4): The service's answer at the last crosscheck: medianDays.
--   api_min_days numeric(14,4): The service's answer at the last crosscheck: minDays.
--   api_max_days numeric(14,4): The service's answer at the last crosscheck: maxDays.
--   api_p25_days numeric(14,4): The service's answer at the last crosscheck: p25Days.
--   api_p75_days numeric(14,4): The service's answer at the last crosscheck: p75Days.
--   average_days_difference numeric(14,4): Our average less the service's, in days.
--   match_status text: Whether it is equal, explained, uncovered or unexplained, by the last crosscheck; not checked where it compared nothing.
--   metric_definition_id text: Definition in force: default, or the calibrated one.
with definition as (
  select * from ops.metric_definition
),

asked as (
-- Include: groupings
  union all select 'company,month', true, false, false, true, false
  union all select 'project,month', false, true, false, true, false
  union all select 'agency,month', false, false, true, true, false
),

-- Include: time_to_fill_answers

ranged as (
  select * from elapsed
),

-- Include: time_to_fill_outliers

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
),

-- Include: time_to_fill_figures

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
