-- How much of the spend on labour goes through the programme, and on how few agencies it depends. Spend is the charge of
-- approved timesheets, by the month in which their week ends.
-- Grain: one row per company and month.
-- Question: How much spend is under management, and how dependent are we on one agency?
-- Sources: mart.rate_compliance, star.fact_assignment, star.fact_timesheet
-- Measures: sum spend, requisition_spend, order_spend, carded_spend, unknown_assignment_spend, managed_spend,
--   agency_spend; ratio managed_ratio = managed_spend / spend; none agencies, largest_agency_spend,
--   largest_agency_share, three_largest_spend, three_largest_share, herfindahl_index
-- Columns:
--   company_id text key: The hiring company; '-1' when the record names none.
--   month_start_date date key: First day of the month in which the week ends.
--   spend numeric(18,4): Charge of all approved timesheets; the denominator of the managed ratios.
--   requisition_spend numeric(18,4): Spend on assignments that fill a requisition.
--   order_spend numeric(18,4): Spend on assignments with a purchase order.
--   carded_spend numeric(18,4): Spend on assignments that have a rate card.
--   unknown_assignment_spend numeric(18,4): Spend on assignments that are not stored, which may be managed or not.
--   managed_spend numeric(18,4): Spend under management: on assignments that fill a requisition and have a purchase order or a
--     rate card.
--   managed_ratio double precision: managed_spend / spend.
--   agency_spend numeric(18,4): Spend of timesheets that name an agency; the denominator of the shares of agencies.
--   agencies integer: Different agencies with spend above 0.
--   largest_agency_id text: The agency with the most spend; the first by id on a tie; empty without one.
--   largest_agency_spend numeric(18,4): Spend of the largest agency.
--   largest_agency_share double precision: largest_agency_spend / agency_spend.
--   three_largest_spend numeric(18,4): Spend of the three largest agencies.
--   three_largest_share double precision: three_largest_spend / agency_spend.
--   herfindahl_index double precision: Sum of the squared shares of agencies, from 0 (many small ones) to 1 (one agency).
with worked as (
  select
    t.company_id,
    cast(date_trunc('month', t.week_ending_date) as date) as month_start_date,
    t.agency_id,
    coalesce(t.charge_total, 0) as charge,
    a.assignment_id is null as is_unknown,
    a.requisition_id <> '-1' as has_requisition,
    a.purchase_order_id <> '-1' as has_order,
    c.rate_id is not null as has_card
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id and not a.is_deleted
  left join mart.rate_compliance as c on c.assignment_id = a.assignment_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
),

managed as (
  select
    w.company_id,
    w.month_start_date,
    sum(w.charge) as spend,
    sum(case when w.has_requisition then w.charge else 0 end) as requisition_spend,
    sum(case when w.has_order then w.charge else 0 end) as order_spend,
    sum(case when w.has_card then w.charge else 0 end) as carded_spend,
    sum(case when w.is_unknown then w.charge else 0 end) as unknown_assignment_spend,
    sum(case when w.has_requisition and (w.has_order or w.has_card) then w.charge else 0 end) as managed_spend
  from worked as w
  group by w.company_id, w.month_start_date
),

agency as (
  select
    w.company_id,
    w.month_start_date,
    w.agency_id,
    sum(w.charge) as spend
  from worked as w
  where w.agency_id <> '-1'
  group by w.company_id, w.month_start_date, w.agency_id
),

ranked as (
  select
    agency.*,
    row_number() over (
      partition by agency.company_id, agency.month_start_date order by agency.spend desc, agency.agency_id
    ) as place,
    sum(agency.spend) over (partition by agency.company_id, agency.month_start_date) as agency_spend
  from agency
  where agency.spend > 0
),

concentration as (
  select
    r.company_id,
    r.month_start_date,
    max(r.agency_spend) as agency_spend,
    count(*) as agencies,
    max(case when r.place = 1 then r.agency_id end) as largest_agency_id,
    max(r.spend) as largest_agency_spend,
    sum(case when r.place <= 3 then r.spend else 0 end) as three_largest_spend,
    sum(cast(r.spend as double precision) * cast(r.spend as double precision)) as squares
  from ranked as r
  group by r.company_id, r.month_start_date
)

select
  m.company_id,
  m.month_start_date,
  m.spend,
  m.requisition_spend,
  m.order_spend,
  m.carded_spend,
  m.unknown_assignment_spend,
  m.managed_spend,
  cast(m.managed_spend as double precision) / nullif(cast(m.spend as double precision), 0) as managed_ratio,
  coalesce(c.agency_spend, 0) as agency_spend,
  coalesce(c.agencies, 0) as agencies,
  c.largest_agency_id,
  c.largest_agency_spend,
  cast(c.largest_agency_spend as double precision) / cast(c.agency_spend as double precision) as largest_agency_share,
  c.three_largest_spend,
  cast(c.three_largest_spend as double precision) / cast(c.agency_spend as double precision) as three_largest_share,
  cast(
    round(
      cast(c.squares / (cast(c.agency_spend as double precision) * cast(c.agency_spend as double precision)) as numeric(18, 9)), 9
    ) as double precision
  ) as herfindahl_index
from managed as m
left join concentration as c on c.company_id = m.company_id and c.month_start_date = m.month_start_date
