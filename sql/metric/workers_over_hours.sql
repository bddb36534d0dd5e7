-- Workers over hours: weeks in which workers did more hours than a threshold, for each group. :definition is one row of
-- choices (the columns of ops.metric_definition), or several that differ in `choice`, :asked one row per grouping
-- (group_by, by_company, by_project, by_agency, by_month, by_week), :thresholds one row per threshold_hours, :range a
-- condition on company_id, project_id, agency_id and local_at, the local time of the week ending in the zone.
with definition as (
  :definition
),

asked as (
  :asked
),

threshold as (
  :thresholds
),

-- Include: over_hours_sheets

ranged as not materialized (
  select * from zoned where :range
),

-- Include: over_hours_figures

select * from shown
