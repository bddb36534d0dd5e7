-- Weeks of which the work is approved as far as it usually gets: `settled_week`, one row for each, by the Sunday of the week
-- that has most of its days; a week is the same for all companies, whatever weekday they end it on.
-- The approved share of a week is the hours of approved timesheets, of those of approved and waiting ones; a waiting
-- timesheet without hours counts with 40. A week is settled when it had ended on the day of the last reading, has approved
-- hours, and either nothing of it waits or its share is at most 0.05 below the usual one: the median share of those of the
-- 26 weeks before it that had ended at least 28 days before that day, and 1 where there is none.
week_share as (
  select
    t.week_ending_date - 3 + cast(7 - extract(isodow from t.week_ending_date - 3) as integer) as sunday,
    max(t.week_ending_date) as last_day,
    count(case when t.status <> 'approved' then 1 end) as waiting,
    sum(case when t.status = 'approved' then coalesce(t.net_hours, 0) else 0 end) as approved_hours,
    cast(sum(case when t.status = 'approved' then coalesce(t.net_hours, 0) else 0 end) as double precision) / nullif(cast(sum(
      case when t.status = 'approved' then coalesce(t.net_hours, 0) when t.net_hours <> 0 then t.net_hours else 40 end
    ) as double precision), 0) as approved_share
  from star.fact_timesheet as t
  where not t.is_deleted and t.week_ending_date is not null and t.status in ('approved', 'pending', 'pending_approval')
  group by t.week_ending_date - 3 + cast(7 - extract(isodow from t.week_ending_date - 3) as integer)
),

usual_share as (
  select w.sunday, percentile_cont(0.5) within group (order by b.approved_share) as approved_share
  from week_share as w
  inner join week_share as b
    on b.sunday < w.sunday and b.sunday >= w.sunday - 182 and b.sunday <= :read_day - 28 and b.approved_share is not null
  group by w.sunday
),

settled_week as (
  select w.sunday
  from week_share as w
  left join usual_share as u on u.sunday = w.sunday
  where w.sunday < :read_day and w.last_day < :read_day and w.approved_hours > 0
    and (w.waiting = 0 or w.approved_share >= coalesce(u.approved_share, 1) - 0.05)
),
