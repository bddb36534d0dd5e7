-- Days from the approval of a requisition to an agency's acceptance, for each group, without outliers, with the service's
-- own figures. An acceptance does not fill a seat: further columns give the days to submission, start and last seat.
-- Outliers are more than 1.5 interquartile ranges beyond the quartiles of their group.
-- The service may leave companies out, such as those without stage tracking: calibration finds which. Then all figures are of
-- the companies that it counts, except left_out_count and all_companies_*.
-- Grain: one row per grouping and group.
-- Question: How long from approval to an agency's acceptance, without outliers?
-- Groups: group_by all, company, project, agency, month, week, company+month, project+month, agency+month
-- Sources: ops.crosscheck, ops.metric_definition, star.fact_assignment, star.fact_requisition, star.fact_requisition_agency,
-- star.fact_submission
-- Measures: sum raw_count, accepted_without_worker, time_to_submit_count, time_to_submit_days, submit_to_accept_count,
--   submit_to_accept_days, time_to_start_count, time_to_start_days, time_to_last_seat_count, time_to_last_seat_days,
--   left_out_count; sum excluded_outliers, within_bounds_count, within_bounds_days, all_companies_count,
--   all_companies_days within group_key; ratio average_days = within_bounds_days / within_bounds_count; ratio
--   time_to_submit_average_days = time_to_submit_days / time_to_submit_count; ratio submit_to_accept_average_days =
--   submit_to_accept_days / submit_to_accept_count; ratio time_to_start_average_days = time_to_start_days /
--   time_to_start_count; ratio time_to_last_seat_average_days = time_to_last_seat_days / time_to_last_seat_count; ratio
--   all_companies_average_days = all_companies_days / all_companies_count; none lower_bound, upper_bound, median_days,
--   min_days, max_days, p25_days, p75_days, average_days_difference, time_to_submit_median_days,
--   submit_to_accept_median_days, time_to_start_median_days, time_to_last_seat_median_days, all_companies_median_days;
--   none api_raw_count, api_excluded_outliers, api_within_bounds_count, api_lower_bound, api_upper_bound,
--   api_average_days, api_median_days, api_min_days, api_max_days, api_p25_days, api_p75_days
-- Columns:
--   group_by text key: Grouping: all, or its keys separated by commas.
--   group_key text key: Values of the keys separated by bars: ids, month as YYYY-MM, first day of the week; empty for all.
--   company_id text: Company of the group, where grouped by company.
--   project_id text: Project of the group, where grouped by project.
--   agency_id text: Agency of the group, where grouped by agency.
--   month_start_date date: First day of the month, where grouped by month.
--   week_start_date date: First day of the week, where grouped by week.
--   raw_count bigint: Acceptances in the group, outliers included; 0 where the service counts no company of it.
--   left_out_count bigint: Acceptances in companies that the service's rule leaves out, such as those without stage tracking;
--     outliers included, and in no figure but all_companies_*.
--   all_companies_count bigint: Acceptances of all companies within the bounds of all of them.
--   all_companies_days numeric(18,4): Days of all_companies_count, added up.
--   all_companies_average_days numeric(14,4): Days to fill, all_companies_days divided by all_companies_count.
--   all_companies_median_days numeric(14,4): Median days of all_companies_count.
--   excluded_outliers bigint: Acceptances left out by the outlier rule.
--   within_bounds_count bigint: Acceptances within the bounds.
--   within_bounds_days numeric(18,4): Days of acceptances within the bounds, added up; the numerator of average_days.
--   lower_bound numeric(14,4): Q1 less 1.5 interquartile ranges, in days; null where the group is too small for the rule.
--   upper_bound numeric(14,4): Q3 plus 1.5 interquartile ranges, in days; null where the group is too small for the rule.
--   average_days numeric(14,4): Average days of acceptances within the bounds: within_bounds_days divided by
--     within_bounds_count.
--   median_days numeric(14,4): Median days of acceptances within the bounds.
--   min_days numeric(14,4): Fewest days of acceptances within the bounds.
--   max_days numeric(14,4): Most days of acceptances within the bounds.
--   p25_days numeric(14,4): First quartile of days of acceptances within the bounds.
--   p75_days numeric(14,4): Third quartile of days of acceptances within the bounds.
--   api_raw_count bigint: The service's answer at the last crosscheck: rawCount.
--   api_excluded_outliers bigint: The service's answer at the last crosscheck: excludedOutliers.
--   api_within_bounds_count bigint: The service's answer at the last crosscheck: count.
--   api_lower_bound numeric(14,4): The service's answer at the last crosscheck: lower.
--   api_upper_bound numeric(14,4): The service's answer at the last crosscheck: upper.
--   api_average_days numeric(14,4): The service's answer at the last crosscheck: averageDays.
--   api_median_days numeric(14,4): The service's answer at the last crosscheck: medianDays.
--   api_min_days numeric(14,4): The service's answer at the last crosscheck: minDays.
--   api_max_days numeric(14,4): The service's answer at the last crosscheck: maxDays.
--   api_p25_days numeric(14,4): The service's answer at the last crosscheck: p25Days.
--   api_p75_days numeric(14,4): The service's answer at the last crosscheck: p75Days.
--   average_days_difference numeric(14,4): Our average less the service's, in days.
--   match_status text: Whether it is equal, explained, uncovered or unexplained, by the last crosscheck; not checked where
--     it compared nothing.
--   metric_definition_id text: Definition in force: default, or the calibrated one.
--   accepted_without_worker bigint: Acceptances by agencies without an assigned worker: nothing was filled.
--   time_to_submit_count bigint: Acceptances with a known first worker put forward; the denominator of
--     time_to_submit_average_days.
--   time_to_submit_days numeric(18,4): Days from approval to the first worker that the agency put forward, added up; the
--     numerator of time_to_submit_average_days.
--   time_to_submit_average_days numeric(14,4): time_to_submit_days divided by time_to_submit_count, outliers included.
--   time_to_submit_median_days numeric(14,4): Median of the days from approval to the first worker.
--   submit_to_accept_count bigint: Acceptances with a known first worker put forward; the denominator of
--     submit_to_accept_average_days.
--   submit_to_accept_days numeric(18,4): Days from that worker to the acceptance, below 0 when the agency accepted first,
--     added up; the numerator of submit_to_accept_average_days.
--   submit_to_accept_average_days numeric(14,4): submit_to_accept_days divided by submit_to_accept_count, outliers included.
--   submit_to_accept_median_days numeric(14,4): Median of the days from the first worker to the acceptance.
--   time_to_start_count bigint: Acceptances with a known first day of work; the denominator of time_to_start_average_days.
--   time_to_start_days numeric(18,4): Days from the day of approval to the first day of the agency's first assignment that
--     has begun, added up; the numerator of time_to_start_average_days.
--   time_to_start_average_days numeric(14,4): time_to_start_days divided by time_to_start_count, outliers included.
--   time_to_start_median_days numeric(14,4): Median of the days from approval to the first day of work.
--   time_to_last_seat_count bigint: Acceptances whose last seat is known to be taken; the denominator of
--     time_to_last_seat_average_days.
--   time_to_last_seat_days numeric(18,4): Days from approval to the assignment that took the last seat of the requisition,
--     added up; the numerator of time_to_last_seat_average_days.
--   time_to_last_seat_average_days numeric(14,4): time_to_last_seat_days divided by time_to_last_seat_count, outliers included.
--   time_to_last_seat_median_days numeric(14,4): Median of the days from approval to the last seat.
with
-- Include: engagement

-- Include: placement_days

-- Include: metric_definitions

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
    max(case when crosscheck.figure = 'count' then crosscheck.theirs end) as within_bounds_count,
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

placed_answer as (
  select
    acceptance.cell, coalesce(placed.assigned_workers, 0) as assigned_workers,
    placed.submit_seconds as submit,
    cast(extract(epoch from (acceptance.accepted_at - placed.submitted_at)) as numeric(18, 3)) as accept,
    placed.start_seconds as begin_in, placed.last_seat_seconds as seat
  from acceptance
  left join placement_days as placed
    on placed.requisition_id = acceptance.requisition_id and placed.agency_id = acceptance.agency_id
),

placed_number as (
  select
    cell_group.number,
    count(f.submit) as submit_count, sum(f.submit) as submit_seconds,
    percentile_cont(0.5) within group (order by cast(f.submit as double precision)) as submit_median,
    count(f.accept) as accept_count, sum(f.accept) as accept_seconds,
    percentile_cont(0.5) within group (order by cast(f.accept as double precision)) as accept_median,
    count(f.begin_in) as start_count, sum(f.begin_in) as start_seconds,
    percentile_cont(0.5) within group (order by cast(f.begin_in as double precision)) as start_median,
    count(f.seat) as seat_count, sum(f.seat) as seat_seconds,
    percentile_cont(0.5) within group (order by cast(f.seat as double precision)) as seat_median,
    count(case when f.assigned_workers = 0 then 1 end) as accepted_without_worker
  from placed_answer as f
  join cell_group on cell_group.cell = f.cell
  group by cell_group.number
),

placed_group as (
  select named.group_by, named.group_key, placed_number.*
  from placed_number
  join named on named.number = placed_number.number
),

-- Include: time_to_fill_figures
,

-- Of all companies.
every_group as (
  select
    replace(shown.group_by, 'all companies: ', '') as group_by, shown.group_key, shown.company_id, shown.project_id,
    shown.agency_id, shown.month_key, shown.week_key, shown.raw_count, shown.within_bounds_count, shown.within_bounds_days,
    shown.average_days, shown.median_days
  from shown
  cross join (select max(definition.choice) as choice from definition) as widest
  where position(widest.choice in shown.group_by) = 1
)

select
  every_group.group_by, every_group.group_key, every_group.company_id, every_group.project_id, every_group.agency_id,
  cast(every_group.month_key || '-01' as date) as month_start_date, cast(every_group.week_key as date) as week_start_date,
  coalesce(shown.raw_count, 0) as raw_count, every_group.raw_count - coalesce(shown.raw_count, 0) as left_out_count,
  every_group.within_bounds_count as all_companies_count, every_group.within_bounds_days as all_companies_days,
  every_group.average_days as all_companies_average_days, every_group.median_days as all_companies_median_days,
  coalesce(shown.excluded_outliers, 0) as excluded_outliers, coalesce(shown.within_bounds_count, 0) as within_bounds_count,
  shown.within_bounds_days, shown.lower_bound, shown.upper_bound,
  shown.average_days, shown.median_days, shown.min_days, shown.max_days, shown.p25_days, shown.p75_days,
  checked.raw_count as api_raw_count,
  checked.excluded_outliers as api_excluded_outliers,
  checked.within_bounds_count as api_within_bounds_count,
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
  definition.definition_id as metric_definition_id,
  coalesce(placed.accepted_without_worker, 0) as accepted_without_worker,
  coalesce(placed.submit_count, 0) as time_to_submit_count,
  cast(placed.submit_seconds as double precision) / 86400.0 as time_to_submit_days,
  cast(placed.submit_seconds as double precision) / nullif(placed.submit_count, 0) / 86400.0 as time_to_submit_average_days,
  placed.submit_median / 86400.0 as time_to_submit_median_days,
  coalesce(placed.accept_count, 0) as submit_to_accept_count,
  cast(placed.accept_seconds as double precision) / 86400.0 as submit_to_accept_days,
  cast(placed.accept_seconds as double precision) / nullif(placed.accept_count, 0) / 86400.0 as submit_to_accept_average_days,
  placed.accept_median / 86400.0 as submit_to_accept_median_days,
  coalesce(placed.start_count, 0) as time_to_start_count,
  cast(placed.start_seconds as double precision) / 86400.0 as time_to_start_days,
  cast(placed.start_seconds as double precision) / nullif(placed.start_count, 0) / 86400.0 as time_to_start_average_days,
  placed.start_median / 86400.0 as time_to_start_median_days,
  coalesce(placed.seat_count, 0) as time_to_last_seat_count,
  cast(placed.seat_seconds as double precision) / 86400.0 as time_to_last_seat_days,
  cast(placed.seat_seconds as double precision) / nullif(placed.seat_count, 0) / 86400.0 as time_to_last_seat_average_days,
  placed.seat_median / 86400.0 as time_to_last_seat_median_days
from every_group
inner join definition on definition.choice = ''
left join shown on shown.group_by = every_group.group_by and shown.group_key = every_group.group_key
left join checked on checked.group_by = every_group.group_by and checked.group_key = every_group.group_key
left join placed_group as placed on placed.group_by = every_group.group_by and placed.group_key = every_group.group_key
