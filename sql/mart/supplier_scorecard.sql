-- Performance of each agency for each company by month: its answers to requisitions, by the month in which it received
-- them; starts and ends of its assignments, by the month of that day; its timesheets, by the month in which their week
-- ends. A requisition that is not yet released to the agency does not count. Counts and amounts can be summed over any
-- group; divide the sums for a ratio. Medians cannot be summed.
-- Grain: one row per agency, company and month.
-- Question: Which suppliers perform, in quality, speed, cost and risk?
-- Sources: mart.rate_compliance, mart.requisition_funnel, star.bridge_assignment_link, star.fact_assignment, star.fact_requisition, star.fact_requisition_agency, star.fact_timesheet, star.fact_webhook_event, history.fact_timesheet
-- Measures: sum received, accepted, offered, filled, filled_of_offered, submissions, tracked, interviewed, offers_made,
--   started, replaced, finished, ended_early, timesheets, timesheets_timed, timesheets_on_time, net_hours, spend,
--   carded_hours, carded_charge, card_charge; sum programme_seats, programme_filled_seats within agency_id; none
--   median_hours_to_accept; ratio response_ratio = accepted / received; ratio fill_ratio = filled_of_offered / offered;
--   ratio programme_fill_ratio = programme_filled_seats / programme_seats; ratio submissions_per_requisition =
--   submissions / received; ratio interview_ratio = interviewed / tracked; ratio offer_ratio = offers_made /
--   interviewed; ratio replacement_ratio = replaced / started; ratio early_end_ratio = ended_early / finished; ratio
--   on_time_ratio = timesheets_on_time / timesheets_timed; ratio charge_to_card_ratio = carded_charge / card_charge
-- Columns:
--   agency_id text key: The agency; '-1' when the record names none.
--   company_id text key: The hiring company; '-1' when the record names none.
--   month_start_date date key: First day of the month, in the reporting zone.
--   received integer: Requisitions that the agency received in the month, or answered without a date of receipt; the denominator
--     of the response ratio.
--   accepted integer: Requisitions received in the month that it accepted, then or later.
--   response_ratio double precision: accepted / received.
--   median_hours_to_accept numeric(18,4): Median of the hours from receipt to acceptance.
--   offered integer: Workers asked for by these requisitions; the denominator of the fill ratio.
--   filled integer: Workers assigned for them.
--   filled_of_offered integer: Workers assigned for them, at most as many per requisition as it asked the agency for; the
--     numerator of the fill ratio.
--   fill_ratio double precision: Share of the seats offered to the agency that it filled: filled_of_offered / offered. Seats that
--     were offered to several agencies count for each.
--   programme_seats numeric(18,4): Workers asked for by the same requisitions, each seat once, whichever agency fills it.
--   programme_filled_seats numeric(18,4): Seats of the same requisitions that any agency filled.
--   programme_fill_ratio double precision: programme_filled_seats / programme_seats: how the programme did with the requisitions
--     that the agency received.
--   submissions integer: Workers put forward for them.
--   submissions_per_requisition double precision: submissions / received.
--   tracked integer: Workers put forward whose stages are tracked; the denominator of the interview ratio.
--   interviewed integer: Workers who were interviewed, or got further; the denominator of the offer ratio.
--   offers_made integer: Workers who got an offer, or got further.
--   interview_ratio double precision: interviewed / tracked.
--   offer_ratio double precision: offers_made / interviewed.
--   started integer: Assignments that began in the month, except cancelled and unconfirmed ones; the denominator of the
--     replacement ratio.
--   replaced integer: Assignments that began in the month and that another assignment replaced since.
--   replacement_ratio double precision: replaced / started.
--   finished integer: Assignments completed or ended in the month; the denominator of the early end ratio.
--   ended_early integer: Finished assignments that ended before their planned end.
--   early_end_ratio double precision: ended_early / finished.
--   timesheets integer: Timesheets of the month, except absences and cancelled ones.
--   timesheets_timed integer: Timesheets known to be submitted for approval in time or late; the denominator of the on-time
--     ratio.
--   timesheets_on_time integer: Timesheets submitted for approval at most 3 days after the end of their week.
--   on_time_ratio double precision: timesheets_on_time / timesheets_timed.
--   net_hours numeric(18,4): Net hours of approved timesheets.
--   spend numeric(18,4): Charge of approved timesheets.
--   carded_hours numeric(18,4): Hours of approved timesheets that are paid by the hour and have a rate card.
--   carded_charge numeric(18,4): Those hours at the weekday charge of the timesheet.
--   card_charge numeric(18,4): Those hours at the charge of the card: the denominator of the charge ratio.
--   charge_to_card_ratio double precision: carded_charge / card_charge: above 1 when the charge is above the card.
with asked as (
  select
    a.requisition_id,
    a.agency_id,
    min(coalesce(r.company_id, a.company_id)) as company_id,
    cast(date_trunc(
      'month', :day(min(coalesce(a.received_at, a.requisition_approved_at, r.created_at)))
    ) as date) as month_start_date,
    max(case when a.accepted_at is null then 0 else 1 end) as accepted,
    min(case when a.received_to_accepted_days >= 0 then a.received_to_accepted_days end) as days_to_accept,
    max(r.quantity) as seats,
    max(least(coalesce(r.quantity, 0), coalesce(r.assigned_total, 0))) as filled_seats
  from star.fact_requisition_agency as a
  inner join star.fact_requisition as r on r.requisition_id = a.requisition_id
  where not a.is_deleted and not r.is_deleted
    and (a.received_at is not null or a.accepted_at is not null or a.assigned > 0 or a.submissions_count > 0)
  group by a.requisition_id, a.agency_id
),

ranked as (
  select
    asked.*,
    count(days_to_accept) over (partition by agency_id, company_id, month_start_date) as measured,
    row_number() over (
      partition by agency_id, company_id, month_start_date order by days_to_accept nulls last
    ) as place
  from asked
  where month_start_date is not null
),

-- The median in exact decimals, which are the same on both engines: see mart.stage_duration.
recruited as (
  select
    ranked.agency_id,
    ranked.company_id,
    ranked.month_start_date,
    count(*) as received,
    sum(ranked.accepted) as accepted,
    sum(
      ranked.days_to_accept * cast(greatest(2 - abs(ranked.measured - 1 - 2 * (ranked.place - 1)), 0) as integer)
    ) as median_sum,
    sum(f.offered) as offered,
    sum(f.filled) as filled,
    sum(least(f.filled, f.offered)) as filled_of_offered,
    sum(ranked.seats) as seats,
    sum(ranked.filled_seats) as filled_seats,
    sum(f.submissions) as submissions,
    sum(f.submitted) as tracked,
    sum(f.interviewed) as interviewed,
    sum(f.offer_made) as offers_made
  from ranked
  inner join mart.requisition_funnel as f
    on f.requisition_id = ranked.requisition_id and f.agency_id = ranked.agency_id
  group by ranked.agency_id, ranked.company_id, ranked.month_start_date
),

-- Include: engagement

spell as (
  select
    e.agency_id,
    e.company_id,
    e.start_date,
    e.end_date,
    case when e.status in ('completed', 'ended') then e.last_date end as last_date,
    case when exists (
      select 1 from star.bridge_assignment_link as l
      where l.assignment_id = e.assignment_id and l.kind = 'replaced_by' and not l.is_deleted
    ) then 1 else 0 end as replaced
  from engagement as e
),

placed as (
  select
    agency_id,
    company_id,
    month_start_date,
    sum(started) as started,
    sum(replaced) as replaced,
    sum(finished) as finished,
    sum(ended_early) as ended_early
  from (
    select
      agency_id, company_id, cast(date_trunc('month', start_date) as date) as month_start_date,
      1 as started, replaced, 0 as finished, 0 as ended_early
    from spell
    where start_date <= :today
    union all
    select
      agency_id, company_id, cast(date_trunc('month', last_date) as date) as month_start_date,
      0 as started, 0 as replaced, 1 as finished, case when last_date < end_date then 1 else 0 end as ended_early
    from spell
    where last_date is not null
  ) as moment
  group by agency_id, company_id, month_start_date
),

-- Include: timesheet_submission

sheet as (
  select
    t.agency_id,
    t.company_id,
    cast(date_trunc('month', t.week_ending_date) as date) as month_start_date,
    case when t.is_on_time is null then 0 else 1 end as timed,
    case when t.is_on_time then 1 else 0 end as on_time,
    case when t.status = 'approved' then t.net_hours else 0 end as net_hours,
    case when t.status = 'approved' then t.charge_total else 0 end as charge_total,
    case
      when t.status = 'approved' and c.pay_type = 'hourly' and coalesce(t.pay_type, 'hourly') = 'hourly'
        and t.rate_wd_charge is not null then t.net_hours
    end as carded_hours,
    t.rate_wd_charge,
    c.card_charge_rate
  from timed_timesheet as t
  left join mart.rate_compliance as c on c.assignment_id = t.assignment_id and c.card_charge_rate is not null
  where t.week_ending_date is not null and not t.is_exempt
),

worked as (
  select
    agency_id,
    company_id,
    month_start_date,
    count(*) as timesheets,
    sum(timed) as timesheets_timed,
    sum(on_time) as timesheets_on_time,
    sum(net_hours) as net_hours,
    sum(charge_total) as spend,
    sum(carded_hours) as carded_hours,
    sum(carded_hours * rate_wd_charge) as carded_charge,
    sum(carded_hours * card_charge_rate) as card_charge
  from sheet
  group by agency_id, company_id, month_start_date
),

month as (
  select agency_id, company_id, month_start_date from recruited
  union
  select agency_id, company_id, month_start_date from placed
  union
  select agency_id, company_id, month_start_date from worked
)

select
  m.agency_id,
  m.company_id,
  m.month_start_date,
  coalesce(r.received, 0) as received,
  coalesce(r.accepted, 0) as accepted,
  cast(r.accepted as double precision) / nullif(r.received, 0) as response_ratio,
  cast(r.median_sum as numeric(28, 8)) * cast(12 as numeric(4, 0)) as median_hours_to_accept,
  coalesce(r.offered, 0) as offered,
  coalesce(r.filled, 0) as filled,
  coalesce(r.filled_of_offered, 0) as filled_of_offered,
  cast(r.filled_of_offered as double precision) / nullif(r.offered, 0) as fill_ratio,
  coalesce(r.seats, 0) as programme_seats,
  coalesce(r.filled_seats, 0) as programme_filled_seats,
  cast(r.filled_seats as double precision) / nullif(cast(r.seats as double precision), 0) as programme_fill_ratio,
  coalesce(r.submissions, 0) as submissions,
  cast(r.submissions as double precision) / nullif(r.received, 0) as submissions_per_requisition,
  coalesce(r.tracked, 0) as tracked,
  coalesce(r.interviewed, 0) as interviewed,
  coalesce(r.offers_made, 0) as offers_made,
  cast(r.interviewed as double precision) / nullif(r.tracked, 0) as interview_ratio,
  cast(r.offers_made as double precision) / nullif(r.interviewed, 0) as offer_ratio,
  coalesce(p.started, 0) as started,
  coalesce(p.replaced, 0) as replaced,
  cast(p.replaced as double precision) / nullif(p.started, 0) as replacement_ratio,
  coalesce(p.finished, 0) as finished,
  coalesce(p.ended_early, 0) as ended_early,
  cast(p.ended_early as double precision) / nullif(p.finished, 0) as early_end_ratio,
  coalesce(w.timesheets, 0) as timesheets,
  coalesce(w.timesheets_timed, 0) as timesheets_timed,
  coalesce(w.timesheets_on_time, 0) as timesheets_on_time,
  cast(w.timesheets_on_time as double precision) / nullif(w.timesheets_timed, 0) as on_time_ratio,
  coalesce(w.net_hours, 0) as net_hours,
  coalesce(w.spend, 0) as spend,
  coalesce(w.carded_hours, 0) as carded_hours,
  coalesce(w.carded_charge, 0) as carded_charge,
  coalesce(w.card_charge, 0) as card_charge,
  cast(w.carded_charge as double precision) / nullif(cast(w.card_charge as double precision), 0)
    as charge_to_card_ratio
from month as m
left join recruited as r
  on r.agency_id = m.agency_id and r.company_id = m.company_id and r.month_start_date = m.month_start_date
left join placed as p
  on p.agency_id = m.agency_id and p.company_id = m.company_id and p.month_start_date = m.month_start_date
left join worked as w
  on w.agency_id = m.agency_id and w.company_id = m.company_id and w.month_start_date = m.month_start_date;
