-- The value of each purchase order, the parts that assignments commit and timesheets have spent, and when it runs out.
-- Grain: one row per purchase order of a company, including orders known by reference only.
-- Question: Are purchase orders about to run out?
-- Assumption: the reference of an order is unique within a company, as assignments give no id. Assignments that are not
-- cancelled are committed for their planned weeks. The contract does not say which period an assignment's charge covers;
-- columns that assume a week say so in their name. Approved timesheets are spent if their assignment was read, even a
-- deleted one; the rate of spending is that of the eight weeks before today.
-- Sources: star.dim_purchase_order, star.fact_assignment, star.fact_timesheet
-- Measures: sum assignments, order_value, assignments_without_weeks, committed_if_charged_weekly_value, spent_value,
--   remaining_value, uncommitted_if_charged_weekly_value, weekly_spend_value; max company_assignments_known,
--   company_assignments_stored within company_id; ratio assignment_coverage = company_assignments_stored /
--   company_assignments_known; ratio remaining_share = remaining_value / order_value
-- Columns:
--   purchase_order_reference_key text key: The md5 of company and reference; the id of an order without a reference.
--   purchase_order_id text: The order; the newest one when several of a company share a reference.
--   reference text: Its reference.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   status text: State of the order.
--   is_read boolean: Whether the order itself was read; else its value is not known.
--   start_date date: First day of the order.
--   end_date date: Last day of the order.
--   is_revoked boolean: Whether it was revoked.
--   assignments bigint: Assignments on it that are not cancelled.
--   order_value numeric(18,4): Value of the order; the denominator of remaining_share.
--   assignments_without_weeks bigint: Assignments without a charge, a first or a last planned day: their value is not
--     committed.
--   committed_if_charged_weekly_value numeric(18,4): Value that the assignments commit if their charge is weekly: charge x
--     planned weeks, rounded up to whole weeks.
--   company_assignments_known bigint: Assignments that approved timesheets of the company name; the denominator of assignment_coverage.
--   company_assignments_stored bigint: Known assignments that were read; the others may spend this order as well; the
--     numerator of assignment_coverage.
--   assignment_coverage double precision: company_assignments_stored / company_assignments_known.
--   spent_value numeric(18,4): Charge of their approved timesheets.
--   remaining_value numeric(18,4): Value that is left: order_value less spent_value; the numerator of remaining_share.
--   uncommitted_if_charged_weekly_value numeric(18,4): Value that is not committed: order_value less committed_if_charged_weekly_value.
--   remaining_share double precision: Share that is left: remaining_value divided by order_value.
--   weekly_spend_value numeric(18,4): Charge a week of the last eight weeks.
--   projected_exhaustion_date date: Day on which the rest is spent at that rate; empty when nothing was spent lately.
--   is_overspent boolean: Whether more was spent than the order is worth.
--   runs_out_before_end boolean: Whether projected_exhaustion_date is before end_date; empty when either is not known.
with ranked as (
  select
    po.*,
    coalesce(po.purchase_order_reference_key, '-1') as reference_key,
    row_number() over (
      partition by case
        when coalesce(po.purchase_order_reference_key, '-1') = '-1' then po.purchase_order_id
        else po.purchase_order_reference_key
      end
      order by case when po.is_inferred then 1 else 0 end, po.created_at desc nulls last, po.purchase_order_id
    ) as place
  from star.dim_purchase_order as po
  where not po.is_deleted and po.purchase_order_id <> '-1'
),

commitment as (
  select
    a.purchase_order_id,
    count(*) as assignments,
    count(case when a.charge_value is null or a.start_date is null or a.end_date is null then 1 end) as without_weeks,
    sum(case
      when a.end_date >= a.start_date then a.charge_value * cast(ceil((:days(a.end_date, a.start_date) + 1) / 7.0) as integer)
      when a.end_date < a.start_date then a.charge_value
    end) as committed_value
  from star.fact_assignment as a
  where not a.is_deleted and coalesce(a.status, '') <> 'cancelled' and a.purchase_order_id <> '-1'
  group by a.purchase_order_id
),

spending as (
  select
    a.purchase_order_id,
    sum(t.charge_total) as spent_value,
    sum(case
      when t.week_ending_date > :today - 56 and t.week_ending_date <= :today then t.charge_total
      else 0
    end) as recent_value
  from star.fact_assignment as a
  inner join star.fact_timesheet as t on t.assignment_id = a.assignment_id
  where a.purchase_order_id <> '-1' and not t.is_deleted and t.status = 'approved'
  group by a.purchase_order_id
),

reading as (
  select
    t.company_id,
    count(distinct t.assignment_id) as known,
    count(distinct a.assignment_id) as held
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved'
  group by t.company_id
),

burn as (
  select
    case when po.reference_key = '-1' then po.purchase_order_id else po.reference_key end as purchase_order_reference_key,
    po.purchase_order_id,
    po.reference,
    coalesce(po.company_id, '-1') as company_id,
    coalesce(po.agency_id, '-1') as agency_id,
    po.status,
    not po.is_inferred as is_read,
    po.start_date,
    po.end_date,
    po.revoked_at is not null and not coalesce(po.is_reinstated, false) as is_revoked,
    coalesce(commitment.assignments, 0) as assignments,
    coalesce(commitment.without_weeks, 0) as assignments_without_weeks,
    coalesce(reading.known, 0) as company_assignments_known,
    coalesce(reading.held, 0) as company_assignments_stored,
    po.value as order_value,
    cast(coalesce(commitment.committed_value, 0) as numeric(18, 4)) as committed_value,
    coalesce(spending.spent_value, 0) as spent_value,
    -- An eighth in exact decimals, which both engines round alike.
    cast(cast(coalesce(spending.recent_value, 0) as numeric(18, 4)) * cast(0.125 as numeric(4, 3)) as numeric(18, 4))
      as weekly_spend_value
  from ranked as po
  left join commitment on commitment.purchase_order_id = po.reference_key
  left join spending on spending.purchase_order_id = po.reference_key
  left join reading on reading.company_id = po.company_id
  where po.place = 1
),

projected as (
  select
    burn.*,
    case
      when burn.weekly_spend_value > 0 and burn.order_value is not null
        then :today + cast(least(greatest(floor(
          cast(burn.order_value - burn.spent_value as double precision) * 7.0
            / cast(burn.weekly_spend_value as double precision)
        ), 0), 36500) as integer)
    end as projected_exhaustion_date
  from burn
)

select
  p.purchase_order_reference_key,
  p.purchase_order_id,
  p.reference,
  p.company_id,
  p.agency_id,
  p.status,
  p.is_read,
  p.start_date,
  p.end_date,
  p.is_revoked,
  p.assignments,
  p.order_value,
  p.assignments_without_weeks,
  p.committed_value as committed_if_charged_weekly_value,
  p.company_assignments_known,
  p.company_assignments_stored,
  cast(p.company_assignments_stored as double precision) / nullif(p.company_assignments_known, 0) as assignment_coverage,
  p.spent_value,
  p.order_value - p.spent_value as remaining_value,
  p.order_value - p.committed_value as uncommitted_if_charged_weekly_value,
  cast(p.order_value - p.spent_value as double precision)
    / nullif(cast(p.order_value as double precision), 0) as remaining_share,
  p.weekly_spend_value,
  p.projected_exhaustion_date,
  p.spent_value > p.order_value as is_overspent,
  p.projected_exhaustion_date < p.end_date as runs_out_before_end
from projected as p
