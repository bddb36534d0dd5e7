-- Workers over 48 hours by week, in the week and on the average over 17 weeks: a small summary of mart.worker_week.
-- Grain: one row per week from Monday to Sunday.
-- Question: In which weeks do too many people work too long?
-- Assumption: that of mart.worker_week, an indicator and not legal advice.
-- Sources: mart.worker_week
-- Measures: last workers, workers_over_threshold, workers_above_48, workers_near_48, workers_with_short_rest,
--   night_workers; sum net_hours, hours_over, short_rests, night_shifts, night_hours; max longest_week_hours
-- Columns:
--   week_ending_date date key: The Sunday that ends the week.
--   workers bigint: Different workers with hours.
--   workers_over_threshold bigint: Workers with more than 48 hours in the week.
--   workers_above_48 bigint: Workers whose average over 17 weeks is above 48 hours, also without hours in this week.
--   workers_near_48 bigint: Workers whose average is 44 to 48 hours, also without hours in this week.
--   net_hours numeric(18,4): Net hours of approved timesheets.
--   hours_over numeric(18,4): Hours of workers beyond 48.
--   longest_week_hours numeric(18,4): Hours of the worker with the most.
--   workers_with_short_rest bigint: Workers who began a day less than 11 hours after the previous one; see mart.worker_week.
--   short_rests bigint: Days that began so, of all workers.
--   night_workers bigint: Workers with a night shift: at least 3 hours between 23:00 and 06:00.
--   night_shifts bigint: Night shifts of all workers.
--   night_hours numeric(18,4): Hours between 23:00 and 06:00 of all workers, breaks included.
select
  w.week_ending_date,
  count(*) filter (where w.net_hours > 0) as workers,
  count(*) filter (where w.is_over_threshold) as workers_over_threshold,
  count(*) filter (where w.wtr_risk = 'above 48') as workers_above_48,
  count(*) filter (where w.wtr_risk = '44 to 48') as workers_near_48,
  sum(w.net_hours) as net_hours,
  sum(w.hours_over) as hours_over,
  max(w.net_hours) as longest_week_hours,
  count(*) filter (where w.short_rests > 0) as workers_with_short_rest,
  sum(w.short_rests) as short_rests,
  count(*) filter (where w.night_shifts > 0) as night_workers,
  sum(w.night_shifts) as night_shifts,
  sum(w.night_hours) as night_hours
from mart.worker_week as w
group by w.week_ending_date
