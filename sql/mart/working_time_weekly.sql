-- Workers over 48 hours by week, in the week and on the average over 17 weeks: a small summary of mart.worker_week.
-- Grain: one row per week from Monday to Sunday.
-- Question: In which weeks do too many people work too long?
-- Assumption: that of mart.worker_week, an indicator and not legal advice.
-- Sources: mart.worker_week, star.fact_timesheet
-- Measures: last workers, workers_over_threshold, workers_above_48, workers_near_48, workers_with_short_rest,
--   night_workers; sum net_hours, pending_hours, approved_and_pending_hours, hours_over, short_rests, night_shifts,
--   night_hours; max longest_week_hours; ratio approved_share = net_hours / approved_and_pending_hours
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
--   pending_hours numeric(18,4): Net hours of timesheets that wait for submission or approval and name a worker, all in the
--     week that has most of the days of the timesheet.
--   approved_and_pending_hours numeric(18,4): Sum of net_hours and pending_hours; the denominator of approved_share.
--   approved_share double precision: Approved share by hours: net_hours / approved_and_pending_hours; empty where there are
--     none.
with approved as (
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
),

waiting as (
  select
    t.week_ending_date - 3 + cast(7 - extract(isodow from t.week_ending_date - 3) as integer) as week_ending_date,
    sum(t.net_hours) as pending_hours
  from star.fact_timesheet as t
  where not t.is_deleted and t.status in ('pending', 'pending_approval') and t.worker_id <> '-1' and t.week_ending_date is not null
  group by t.week_ending_date - 3 + cast(7 - extract(isodow from t.week_ending_date - 3) as integer)
)

select
  week_ending_date,
  coalesce(approved.workers, 0) as workers,
  coalesce(approved.workers_over_threshold, 0) as workers_over_threshold,
  coalesce(approved.workers_above_48, 0) as workers_above_48,
  coalesce(approved.workers_near_48, 0) as workers_near_48,
  coalesce(approved.net_hours, 0) as net_hours,
  coalesce(approved.hours_over, 0) as hours_over,
  coalesce(approved.longest_week_hours, 0) as longest_week_hours,
  coalesce(approved.workers_with_short_rest, 0) as workers_with_short_rest,
  coalesce(approved.short_rests, 0) as short_rests,
  coalesce(approved.night_workers, 0) as night_workers,
  coalesce(approved.night_shifts, 0) as night_shifts,
  coalesce(approved.night_hours, 0) as night_hours,
  coalesce(waiting.pending_hours, 0) as pending_hours,
  coalesce(approved.net_hours, 0) + coalesce(waiting.pending_hours, 0) as approved_and_pending_hours,
  cast(coalesce(approved.net_hours, 0) as double precision)
    / nullif(cast(coalesce(approved.net_hours, 0) + coalesce(waiting.pending_hours, 0) as double precision), 0) as approved_share
from approved
full join waiting using (week_ending_date)
