-- The figures of each group over the values that the outlier rule keeps: `shown`. Reads the part time_to_fill_outliers.
judged as (
  select
    p.number, p.days, p.answers,
    bounded.lower_bound is null
      or (p.days > bounded.lower_bound and p.days < bounded.upper_bound)
      or (bounded.bounds = 'inclusive' and p.days in (bounded.lower_bound, bounded.upper_bound)) as is_kept,
    bounded.lower_bound is not null and (p.days < bounded.lower_bound
      or (bounded.bounds = 'exclusive' and p.days = bounded.lower_bound)) as is_below
  from placed_days as p
  join bounded on bounded.number = p.number
),

-- The kept values are contiguous in the sorted ones, after those below the bounds.
kept as (
  select
    judged.number,
    sum(case when judged.is_kept then judged.answers else 0 end) as kept_size,
    sum(case when judged.is_below then judged.answers else 0 end) as below,
    sum(case when judged.is_kept then judged.days * judged.answers end) as within_bounds_days,
    min(case when judged.is_kept then judged.days end) as min_days,
    max(case when judged.is_kept then judged.days end) as max_days
  from judged
  group by judged.number
),

kept_spotted as (
  select
    bounded.*, kept.kept_size, kept.below, kept.within_bounds_days, kept.min_days, kept.max_days,
    value_by_ceil * (ceil(0.25 * kept_size) - 1) + value_by_floor * floor(0.25 * kept_size)
      + value_by_line * (0.25 * (kept_size + value_more) + value_less) as p25_spot,
    value_by_ceil * (ceil(0.5 * kept_size) - 1) + value_by_floor * floor(0.5 * kept_size)
      + value_by_line * (0.5 * (kept_size + value_more) + value_less) as median_spot,
    value_by_ceil * (ceil(0.75 * kept_size) - 1) + value_by_floor * floor(0.75 * kept_size)
      + value_by_line * (0.75 * (kept_size + value_more) + value_less) as p75_spot
  from bounded
  join kept on kept.number = bounded.number
),

neighbour as (
  select
    k.number,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(p25_spot) + 1)) then p.days end) as p25_low,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(p25_spot) + 2)) then p.days end) as p25_high,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(median_spot) + 1)) then p.days end) as median_low,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(median_spot) + 2)) then p.days end) as median_high,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(p75_spot) + 1)) then p.days end) as p75_low,
    min(case when p.up_to >= below + least(kept_size, greatest(1, floor(p75_spot) + 2)) then p.days end) as p75_high
  from kept_spotted as k
  join placed_days as p on p.number = k.number
  group by k.number
),

figures as (
  select
    named.group_by, named.group_key, named.company_id, named.project_id, named.agency_id, named.month_key, named.week_key,
    k.factor, cast(k.size as bigint) as raw_count, cast(k.size - k.kept_size as bigint) as excluded_outliers,
    cast(k.kept_size as bigint) as within_bounds_count, k.lower_bound, k.upper_bound, k.within_bounds_days,
    k.within_bounds_days / nullif(k.kept_size, 0) as average_days, k.min_days, k.max_days,
    case when kept_size > 0 then p25_low + (p25_spot - floor(p25_spot)) * (p25_high - p25_low) end as p25_days,
    case when kept_size > 0 then median_low + (median_spot - floor(median_spot)) * (median_high - median_low) end
      as median_days,
    case when kept_size > 0 then p75_low + (p75_spot - floor(p75_spot)) * (p75_high - p75_low) end as p75_days
  from kept_spotted as k
  join neighbour on neighbour.number = k.number
  join named on named.number = k.number
),

shown as (
  select
    group_by, group_key, company_id, project_id, agency_id, month_key, week_key, raw_count, excluded_outliers,
    case when factor = 0 then lower_bound else floor(lower_bound * factor + 0.5) / factor end as lower_bound,
    case when factor = 0 then upper_bound else floor(upper_bound * factor + 0.5) / factor end as upper_bound,
    within_bounds_count, within_bounds_days,
    case when factor = 0 then average_days else floor(average_days * factor + 0.5) / factor end as average_days,
    case when factor = 0 then median_days else floor(median_days * factor + 0.5) / factor end as median_days,
    case when factor = 0 then min_days else floor(min_days * factor + 0.5) / factor end as min_days,
    case when factor = 0 then max_days else floor(max_days * factor + 0.5) / factor end as max_days,
    case when factor = 0 then p25_days else floor(p25_days * factor + 0.5) / factor end as p25_days,
    case when factor = 0 then p75_days else floor(p75_days * factor + 0.5) / factor end as p75_days
  from figures
)
