-- The figures of each group over the values that the outlier rule keeps: `shown`.

-- The kept values are contiguous in the sorted list, after those below the bounds.
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
