-- Weeks in which workers worked more hours than a threshold, for each group, with the service's own figures.
-- The service may leave companies out, such as those without stage tracking: calibration finds which. Then all figures are of
-- the companies that it counts, except left_out_* and all_companies_*; mart.worker_week has all companies always.
-- Grain: one row per grouping, group and threshold.
-- Question: Who is over 40, 48 or 60 hours a week?
-- Groups: group_by all, company, project, agency, month, week, company+month
-- Sources: ops.crosscheck, ops.metric_definition, star.fact_timelog, star.fact_timesheet
-- Measures: sum worker_weeks, total_hours within group_key; sum left_out_worker_weeks, left_out_over_threshold,
--   all_companies_worker_weeks, all_companies_over_threshold within group_key; ratio average_weekly_hours = total_hours /
--   worker_weeks; max workers_over_threshold, distinct_workers_over_threshold, max_weekly_hours within group_key; none
--   api_worker_weeks, api_workers_over_threshold, api_distinct_workers_over_threshold, api_total_hours,
--   api_average_weekly_hours, api_max_weekly_hours, workers_over_threshold_difference
-- Columns:
--   group_by text key: Grouping: all, or its keys separated by commas.
--   group_key text key: Values of the keys separated by bars: ids, month as YYYY-MM, first day of the week; empty for all.
--   company_id text: Company of the group, where grouped by company.
--   project_id text: Project of the group, where grouped by project.
--   agency_id text: Agency of the group, where grouped by agency.
--   month_start_date date: First day of the month, where grouped by month.
--   week_start_date date: First day of the week, where grouped by week.
--   threshold_hours numeric(12,4) key: Hours a week: 40, 48 or 60.
--   all_companies_worker_weeks bigint: worker_weeks of all companies, also those that the service's rule leaves out.
--   all_companies_over_threshold bigint: Worker weeks of all companies over the threshold.
--   left_out_worker_weeks bigint: Worker weeks of all_companies_worker_weeks that worker_weeks lacks: those of companies that
--     the service's rule leaves out, such as those without stage tracking.
--   left_out_over_threshold bigint: Worker weeks of all_companies_over_threshold that workers_over_threshold lacks.
--   worker_weeks bigint: Weeks of workers with counted timesheets, one for each worker and week ending.
--   workers_over_threshold bigint: Worker weeks over the threshold.
--   distinct_workers_over_threshold bigint: Workers with a week over the threshold.
--   total_hours numeric(18,4): Hours of all worker weeks; the numerator of average_weekly_hours.
--   average_weekly_hours numeric(14,4): Hours a week: total_hours divided by worker_weeks.
--   max_weekly_hours numeric(14,4): Hours of the longest week.
--   hours_field text: Field of the service whose hours are counted: netHours or timelogHours.
--   api_worker_weeks bigint: The service's answer for this threshold at the last crosscheck: workerWeeks.
--   api_workers_over_threshold bigint: The service's answer for this threshold at the last crosscheck: workersOverThreshold.
--   api_distinct_workers_over_threshold bigint: The service's answer for this threshold at the last crosscheck:
--     distinctWorkersOverThreshold.
--   api_total_hours numeric(18,4): The service's answer for this threshold at the last crosscheck: totalHours.
--   api_average_weekly_hours numeric(14,4): The service's answer for this threshold at the last crosscheck: averageWeeklyHours.
--   api_max_weekly_hours numeric(14,4): The service's answer for this threshold at the last crosscheck: maxWeeklyHours.
--   workers_over_threshold_difference bigint: Our weeks over the threshold less the service's.
--   match_status text: Whether it is equal, explained or unexplained, by the last crosscheck; not checked where it compared
--     nothing.
--   metric_definition_id text: Definition in force: default, or the calibrated one.
with
-- Include: metric_definitions

asked as (
-- Include: groupings
  union all select 'company,month', true, false, false, true, false
),

threshold as (
  select cast(48 as numeric(12, 4)) as threshold_hours
  union all select cast(40 as numeric(12, 4))
  union all select cast(60 as numeric(12, 4))
),

-- Include: over_hours_sheets

ranged as not materialized (
  select * from zoned
),

checked as (
  select
    crosscheck.group_by, crosscheck.group_key,
    max(case when crosscheck.figure = 'thresholdHours' then crosscheck.theirs end) as threshold_hours,
    max(case when crosscheck.figure = 'workerWeeks' then crosscheck.theirs end) as worker_weeks,
    max(case when crosscheck.figure = 'workersOverThreshold' then crosscheck.theirs end) as workers_over_threshold,
    max(case when crosscheck.figure = 'distinctWorkersOverThreshold' then crosscheck.theirs end) as distinct_workers_over_threshold,
    max(case when crosscheck.figure = 'totalHours' then crosscheck.theirs end) as total_hours,
    max(case when crosscheck.figure = 'averageWeeklyHours' then crosscheck.theirs end) as average_weekly_hours,
    max(case when crosscheck.figure = 'maxWeeklyHours' then crosscheck.theirs end) as max_weekly_hours,
    max(case crosscheck.verdict when 'unexplained' then 2 when 'explained' then 1 else 0 end) as severity
  from ops.crosscheck as crosscheck
  where crosscheck.metric = 'workersOverHours'
  group by crosscheck.group_by, crosscheck.group_key
),

-- Include: over_hours_figures
,

-- Of all companies.
every_group as (
  select
    replace(shown.group_by, 'all companies: ', '') as group_by, shown.group_key, shown.company_id, shown.project_id,
    shown.agency_id, shown.month_key, shown.week_key, shown.threshold_hours, shown.worker_weeks, shown.workers_over_threshold
  from shown
  cross join (select max(definition.choice) as choice from definition) as widest
  where position(widest.choice in shown.group_by) = 1
)

select
  every_group.group_by, every_group.group_key, every_group.company_id, every_group.project_id, every_group.agency_id,
  cast(every_group.month_key || '-01' as date) as month_start_date, cast(every_group.week_key as date) as week_start_date,
  every_group.threshold_hours,
  every_group.worker_weeks as all_companies_worker_weeks,
  every_group.workers_over_threshold as all_companies_over_threshold,
  every_group.worker_weeks - coalesce(shown.worker_weeks, 0) as left_out_worker_weeks,
  every_group.workers_over_threshold - coalesce(shown.workers_over_threshold, 0) as left_out_over_threshold,
  coalesce(shown.worker_weeks, 0) as worker_weeks, coalesce(shown.workers_over_threshold, 0) as workers_over_threshold,
  coalesce(shown.distinct_workers_over_threshold, 0) as distinct_workers_over_threshold,
  shown.total_hours, shown.average_weekly_hours, shown.max_weekly_hours, definition.hours_field,
  checked.worker_weeks as api_worker_weeks,
  checked.workers_over_threshold as api_workers_over_threshold,
  checked.distinct_workers_over_threshold as api_distinct_workers_over_threshold,
  checked.total_hours as api_total_hours,
  checked.average_weekly_hours as api_average_weekly_hours,
  checked.max_weekly_hours as api_max_weekly_hours,
  cast(shown.workers_over_threshold - checked.workers_over_threshold as bigint) as workers_over_threshold_difference,
  case checked.severity when 0 then 'equal' when 1 then 'explained' when 2 then 'unexplained' else 'not checked' end
    as match_status,
  definition.definition_id as metric_definition_id
from every_group
inner join definition on definition.choice = ''
left join shown on shown.group_by = every_group.group_by and shown.group_key = every_group.group_key
  and shown.threshold_hours = every_group.threshold_hours
left join checked on checked.group_by = every_group.group_by and checked.group_key = every_group.group_key
  and checked.threshold_hours = every_group.threshold_hours
