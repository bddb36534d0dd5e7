-- The definition of the metrics in force: the calibrated interpretation of each rule, else the documented default.
drop view if exists ops.metric_definition;
create view ops.metric_definition as
-- An offset such as +05:30 is UTC with minutes added.
with chosen_zone as (
  select coalesce(max(case when rule = 'zone' then chosen end), 'UTC') as name from ops.metric_calibration
)

select
  '' as choice,
  coalesce(max(definition_id), 'default') as definition_id,
  coalesce(max(case when rule = 'quantiles' then chosen end), 'type7') as quantiles,
  coalesce(max(case when rule = 'valueQuantiles' then chosen end), 'type7') as value_quantiles,
  coalesce(max(case when rule = 'days' then chosen end), 'fractional') as days,
  coalesce(max(case when rule = 'negativeDays' then chosen end), 'counted') as negative_days,
  coalesce(max(case when rule = 'acceptance' then chosen end), 'perAgency') as acceptance,
  coalesce(max(case when rule = 'bounds' then chosen end), 'inclusive') as bounds,
  coalesce(cast(max(case when rule = 'minForRule' then chosen end) as integer), 1) as min_for_rule,
  coalesce(max(case when rule = 'requisitionStatuses' then chosen end), ',raised,approved,filled,cancelled,rejected,')
    as requisition_statuses,
  coalesce(max(case when rule = 'timesheetStatuses' then chosen end), ',approved,') as timesheet_statuses,
  coalesce(max(case when rule = 'companies' then chosen end), '') as company_ids,
  max(case when substr(chosen_zone.name, 1, 1) in ('+', '-') then 'UTC' else chosen_zone.name end) as zone,
  max(case substr(chosen_zone.name, 1, 1)
    when '+' then 60 * cast(substr(chosen_zone.name, 2, 2) as integer) + cast(substr(chosen_zone.name, 5, 2) as integer)
    when '-' then -60 * cast(substr(chosen_zone.name, 2, 2) as integer) - cast(substr(chosen_zone.name, 5, 2) as integer)
    else 0 end) as zone_minutes,
  coalesce(max(case when rule = 'from' then chosen end), 'inclusive') as from_day,
  coalesce(max(case when rule = 'to' then chosen end), 'inclusive') as to_day,
  coalesce(max(case when rule = 'hoursField' then chosen end), 'netHours') as hours_field,
  coalesce(max(case when rule = 'weekStart' then chosen end), 'monday') as week_start,
  coalesce(max(case when rule = 'threshold' then chosen end), 'over') as threshold,
  coalesce(max(case when rule = 'workerWeek' then chosen end), 'worker') as worker_week,
  cast(nullif(max(case when rule = 'daysDecimals' then chosen end), '') as integer) as days_decimals,
  cast(nullif(max(case when rule = 'hoursDecimals' then chosen end), '') as integer) as hours_decimals,
  coalesce(max(case when rule = 'weekKey' then chosen end), 'isoWeek') as week_key,
  coalesce(max(case when rule = 'monthKey' then chosen end), 'yearMonth') as month_key,
  coalesce(max(case when rule = 'refKey' then chosen end), 'ref') as ref_key,
  max(calibrated_at) as calibrated_at
from chosen_zone
left join ops.metric_calibration on true;
comment on view ops.metric_definition is 'One row: how the recruitment metrics are computed, as calibration found it, else by default.';
comment on column ops.metric_definition.choice is 'Empty; distinguishes definitions that are tried side by side.';
comment on column ops.metric_definition.definition_id is 'Name of this definition: default, or a hash of its choices.';
comment on column ops.metric_definition.quantiles is 'Method of the quartiles behind the bounds: type7, type6, type5, type8, type2, nearestRank or floorIndex.';
comment on column ops.metric_definition.value_quantiles is 'Method of the median and the quartiles that are shown.';
comment on column ops.metric_definition.days is 'Unit of a duration: fractional, floor, ceil, round, calendarUtc, calendarLondon or calendarZone.';
comment on column ops.metric_definition.negative_days is 'Acceptances before the approval: kept, counted as no days (zero), or dropped.';
comment on column ops.metric_definition.acceptance is 'What is counted: perAgency, or the earliest or latest answer of each requisition.';
comment on column ops.metric_definition.bounds is 'Whether a value on a bound is kept: inclusive or exclusive.';
comment on column ops.metric_definition.min_for_rule is 'Smallest group to which the outlier rule applies.';
comment on column ops.metric_definition.requisition_statuses is 'States of requisitions that are counted, with commas around.';
comment on column ops.metric_definition.timesheet_statuses is 'States of timesheets whose hours are counted, with commas around.';
comment on column ops.metric_definition.company_ids is 'Companies that are counted, with commas around; empty for all.';
comment on column ops.metric_definition.zone is 'Where days, weeks and months begin.';
comment on column ops.metric_definition.zone_minutes is 'Minutes to add to the local time of zone; 0 unless the service uses an offset instead of a named zone.';
comment on column ops.metric_definition.from_day is 'Whether the day of from belongs to a range: inclusive or exclusive.';
comment on column ops.metric_definition.to_day is 'Whether the day of to belongs to a range: inclusive, midnight (its first instant) or exclusive.';
comment on column ops.metric_definition.hours_field is 'What is added up of a timesheet: netHours or timelogHours.';
comment on column ops.metric_definition.week_start is 'First day of a week: monday, sunday or saturday.';
comment on column ops.metric_definition.threshold is 'Whether a week of exactly the threshold counts: over (no) or at (yes).';
comment on column ops.metric_definition.worker_week is 'Hours that are compared with the threshold: those of all timesheets of a worker and week ending (worker), of each timesheet (timesheet), or of a worker and calendar week (calendarWeek).';
comment on column ops.metric_definition.days_decimals is 'Decimals of days; null leaves them as computed.';
comment on column ops.metric_definition.hours_decimals is 'Decimals of hours; null leaves them as computed.';
comment on column ops.metric_definition.week_key is 'How the service writes a week: isoWeek or firstDay.';
comment on column ops.metric_definition.month_key is 'How the service writes a month: yearMonth or firstDay.';
comment on column ops.metric_definition.ref_key is 'How the service writes a company, project or agency in a group: ref, id or name.';
comment on column ops.metric_definition.calibrated_at is 'When calibration found it; null while every choice is the default.';
