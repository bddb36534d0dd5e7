-- The definition in force, and beside it the same one over all companies if the service leaves some out: `definition`. The
-- groupings of the second one begin with `all companies: `.
definition as (
  select
    case when w.is_all then 'all companies: ' else d.choice end as choice,
    case when w.is_all then '' else d.company_ids end as company_ids,
    d.definition_id,
    d.quantiles,
    d.value_quantiles,
    d.days,
    d.negative_days,
    d.acceptance,
    d.bounds,
    d.min_for_rule,
    d.requisition_statuses,
    d.timesheet_statuses,
    d.zone,
    d.zone_minutes,
    d.from_day,
    d.to_day,
    d.hours_field,
    d.week_start,
    d.threshold,
    d.worker_week,
    d.days_decimals,
    d.hours_decimals,
    d.week_key,
    d.month_key,
    d.ref_key,
    d.calibrated_at
  from ops.metric_definition as d
  inner join (select false as is_all union all select true as is_all) as w on not w.is_all or d.company_ids <> ''
),
