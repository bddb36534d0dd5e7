-- What became of each assignment: whether the worker came, left within four weeks, when it ends, and planned beside worked
-- hours. Counters are 0 or 1 and add up over any group; divide the sums for a ratio.
-- Grain: one row per assignment that is confirmed, completed or ended.
-- Question: Who did not come, who left early, what ends soon, and does the plan hold?
-- Assumption: a no-show has no hours on any timesheet that is not cancelled or an absence, two weeks after its first day;
-- assignments that began before the first stored timesheet of the company are left out; a week without another within four
-- weeks after it is not the first, as it may be mistyped. A worker leaves within four weeks when the assignment was ended,
-- not completed, and none with the same company and agency follows within a week. A shift pattern gives hours of the day,
-- and its break minutes: the contract names no unit, and a pattern beyond 24 is not known.
-- Sources: star.fact_assignment, star.fact_assignment_shift, star.fact_timesheet
-- Measures: distinct workers = worker_id; sum net_hours, charge_value, due_starts, no_shows, four_week_starts,
--   left_within_4_weeks, ends_in_4_weeks, ends_in_8_weeks, ends_in_12_weeks, planned_hours, worked_hours; ratio
--   no_show_ratio = no_shows / due_starts; ratio four_week_attrition_ratio = left_within_4_weeks / four_week_starts;
--   ratio worked_to_plan_ratio = worked_hours / planned_hours
-- Columns:
--   assignment_id text key: The assignment.
--   reference text: Its reference.
--   status text: State: confirmed, completed or ended.
--   worker_id text: The worker; '-1' when the record names none.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; '-1' when the record names none.
--   trade_id text: The trade; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   umbrella_id text: The umbrella company; '-1' when the record names none.
--   rate_type text: Engagement type: cis, paye or psc.
--   start_date date: First day of the assignment.
--   last_date date: Day of its end or completion, else the planned day; empty when neither is known.
--   net_hours numeric(18,4): Net hours of its approved timesheets.
--   charge_value numeric(18,4): Charge of its approved timesheets.
--   due_starts integer: 1 when it began at least 14 days ago and its timesheets would be stored; the denominator of no_show_ratio.
--   no_shows integer: 1 when it is due and no timesheet has hours, approved or waiting.
--   no_show_ratio double precision: no_shows / due_starts.
--   four_week_starts integer: 1 when it began at least 28 days ago, unless it was completed within four weeks; the denominator of
--     four_week_attrition_ratio.
--   left_within_4_weeks integer: 1 when the worker left within the first 28 days.
--   four_week_attrition_ratio double precision: left_within_4_weeks / four_week_starts.
--   end_band text: over, past its end, within 4 weeks, within 8 weeks, within 12 weeks, later, or no end known; counted from today.
--   ends_in_4_weeks integer: 1 when it is confirmed and ends within 28 days from today.
--   ends_in_8_weeks integer: 1 when it is confirmed and ends within 56 days from today, those within 28 included.
--   ends_in_12_weeks integer: 1 when it is confirmed and ends within 84 days from today, those within 56 included.
--   planned_hours numeric(18,4): Hours of the shift pattern in the weeks that have an approved timesheet, from the first to the
--     last day; empty when the pattern is not known.
--   worked_hours numeric(18,4): Net hours of those weeks; empty when planned_hours is.
--   worked_to_plan_ratio double precision: worked_hours / planned_hours.
with
-- Include: engagement

sheet as (
  select t.assignment_id, t.status, t.week_ending_date, t.net_hours, t.charge_total
  from star.fact_timesheet as t
  where not t.is_deleted and coalesce(t.status, '') not in ('cancelled', 'absent')
),

stored_week as (
  select t.company_id, t.week_ending_date,
    lead(t.week_ending_date) over (partition by t.company_id order by t.week_ending_date) as next_date
  from star.fact_timesheet as t
  where not t.is_deleted and t.week_ending_date is not null
  group by t.company_id, t.week_ending_date
),

stored as (
  select w.company_id, min(w.week_ending_date) - 6 as first_date
  from stored_week as w
  where w.next_date <= w.week_ending_date + 28
  group by w.company_id
),

worked as (
  select
    assignment_id,
    count(case when net_hours > 0 then 1 end) as sheets_with_hours,
    sum(case when status = 'approved' and week_ending_date is not null then net_hours else 0 end) as net_hours,
    sum(case when status = 'approved' and week_ending_date is not null then charge_total else 0 end) as charge_value
  from sheet
  group by assignment_id
),

-- A shift whose break takes all of it, or that ends when it starts, says nothing about hours.
shift as (
  select timed.assignment_id, timed.day_of_week_iso, case when timed.hours > 0 then timed.hours end as hours
  from (
    select
      s.assignment_id,
      s.day_of_week_iso,
      case
        when s.shift_start between 0 and 24 and s.shift_end between 0 and 24
          then s.shift_end - s.shift_start + case when s.shift_end < s.shift_start then 24 else 0 end
            - coalesce(s.shift_break, 0) / 60.0
      end as hours
    from star.fact_assignment_shift as s
    where not s.is_deleted and s.is_active
  ) as timed
),

pattern as (
  select shift.assignment_id
  from shift
  group by shift.assignment_id
  having count(*) = count(shift.hours)
),

week as (
  select distinct s.assignment_id, s.week_ending_date
  from sheet as s
  inner join pattern on pattern.assignment_id = s.assignment_id
  where s.status = 'approved'
),

planned_day as (
  select
    w.assignment_id,
    w.week_ending_date
      - cast((cast(extract(isodow from w.week_ending_date) as integer) - shift.day_of_week_iso + 7) % 7 as integer) as work_date,
    shift.hours
  from week as w
  inner join shift on shift.assignment_id = w.assignment_id
),

planned as (
  select d.assignment_id, sum(d.hours) as hours
  from planned_day as d
  inner join engagement as e on e.assignment_id = d.assignment_id
  where d.work_date >= e.start_date and (e.last_date is null or d.work_date <= e.last_date)
  group by d.assignment_id
),

judged as (
  select
    e.*,
    coalesce(w.net_hours, 0) as worked_net_hours,
    coalesce(w.charge_value, 0) as worked_charge_value,
    case when e.start_date <= :today - 14 and e.start_date >= s.first_date then 1 else 0 end as due_starts,
    coalesce(w.sheets_with_hours, 0) = 0 as has_no_hours,
    case
      when e.start_date > :today - 28 or e.start_date is null then 0
      when e.status = 'completed' and e.last_date < e.start_date + 28 then 0
      else 1
    end as four_week_starts,
    case
      when e.status = 'ended' and e.last_date < e.start_date + 28 and not exists (
        select 1 from engagement as f
        where f.worker_id = e.worker_id and f.company_id = e.company_id and f.agency_id = e.agency_id
          and f.assignment_id <> e.assignment_id and e.worker_id <> '-1' and f.start_date <= e.last_date + 7
          and (f.last_date is null or f.last_date > e.last_date)
      ) then 1
      else 0
    end as is_left,
    case when e.status = 'confirmed' and e.last_date >= :today then cast(e.last_date - :today as integer) end as days_left,
    p.hours as planned_hours
  from engagement as e
  left join worked as w on w.assignment_id = e.assignment_id
  left join stored as s on s.company_id = e.company_id
  left join planned as p on p.assignment_id = e.assignment_id
)

select
  j.assignment_id,
  j.reference,
  j.status,
  j.worker_id,
  j.company_id,
  j.project_id,
  j.site_id,
  j.trade_id,
  j.agency_id,
  coalesce(j.umbrella_id, '-1') as umbrella_id,
  j.rate_type,
  j.start_date,
  j.last_date,
  j.worked_net_hours as net_hours,
  j.worked_charge_value as charge_value,
  j.due_starts,
  case when j.has_no_hours then j.due_starts else 0 end as no_shows,
  case when j.due_starts = 1 then case when j.has_no_hours then 1.0 else 0.0 end end as no_show_ratio,
  j.four_week_starts,
  j.four_week_starts * j.is_left as left_within_4_weeks,
  case when j.four_week_starts = 1 then cast(j.is_left as double precision) end as four_week_attrition_ratio,
  case
    when j.status <> 'confirmed' then 'over'
    when j.last_date is null then 'no end known'
    when j.days_left is null then 'past its end'
    when j.days_left <= 28 then 'within 4 weeks'
    when j.days_left <= 56 then 'within 8 weeks'
    when j.days_left <= 84 then 'within 12 weeks'
    else 'later'
  end as end_band,
  case when j.days_left <= 28 then 1 else 0 end as ends_in_4_weeks,
  case when j.days_left <= 56 then 1 else 0 end as ends_in_8_weeks,
  case when j.days_left <= 84 then 1 else 0 end as ends_in_12_weeks,
  j.planned_hours,
  case when j.planned_hours is not null then j.worked_net_hours end as worked_hours,
  cast(j.worked_net_hours as double precision) / nullif(cast(j.planned_hours as double precision), 0) as worked_to_plan_ratio
from judged as j
