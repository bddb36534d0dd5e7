-- Time to fill: days from the approval of a requisition to an agency's acceptance, for each group, without outliers.
-- :definition is one row of choices (the columns of ops.metric_definition), or several that differ in `choice`, :asked
-- one row per grouping (group_by, by_company, by_project, by_agency, by_month, by_week), :range a condition on
-- company_id, project_id, agency_id and local_at, the local time of the acceptance in the zone.
with definition as (
  :definition
),

asked as (
  :asked
),

-- Include: time_to_fill_answers

ranged as (
  select * from elapsed where :range
),

-- Include: time_to_fill_outliers

-- Include: time_to_fill_figures

select * from shown
