-- How much approved work a rate card fits, and why none fits the rest. The cards and their order are those of
-- mart.rate_compliance.
-- Grain: one row per company, agency, trade, engagement type, pay type and reason.
-- Question: How much work is on a rate card, and why is the rest not?
-- Sources: mart.rate_compliance, star.fact_assignment, star.fact_rate, star.fact_timesheet
-- Measures: sum timesheets, net_hours, charge_value; none company_hours, hours_share
-- Columns:
--   company_id text key: The hiring company; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   trade_id text key: The trade of the assignment; '-1' when it is not known.
--   rate_type text key: Engagement type of the assignment: cis, paye or psc; none when it is not known.
--   pay_type text key: How the assignment is paid: hourly or daily; none when it is not known.
--   reason text key: on a card, assignment not known, no trade, no card for the trade, no card for the engagement type, no card for
--     the pay type, or other reach: the cards are for another company, project, agency, region or sector.
--   timesheets bigint: Approved timesheets with a week.
--   net_hours numeric(18,4): Their net hours; the numerator of hours_share.
--   charge_value numeric(18,4): Their charge.
--   company_hours numeric(18,4): Hours of all reasons in the company; the denominator of hours_share.
--   hours_share double precision: Share of the company: net_hours divided by company_hours.
with offered as (
  select r.trade_id, r.rate_type, r.basis
  from star.fact_rate as r
  where not r.is_deleted and r.charge is not null and r.trade_id <> '-1'
  group by r.trade_id, r.rate_type, r.basis
),

reasoned as (
  select
    a.assignment_id,
    a.trade_id,
    a.rate_type,
    a.pay_type,
    case
      when c.rate_id is not null then 'on a card'
      when a.trade_id = '-1' then 'no trade'
      when not exists (select 1 from offered as o where o.trade_id = a.trade_id) then 'no card for the trade'
      when not exists (select 1 from offered as o where o.trade_id = a.trade_id and o.rate_type = a.rate_type)
        then 'no card for the engagement type'
      when not exists (
        select 1 from offered as o
        where o.trade_id = a.trade_id and o.rate_type = a.rate_type and o.basis = a.pay_type
      ) then 'no card for the pay type'
      else 'other reach'
    end as reason
  from star.fact_assignment as a
  left join mart.rate_compliance as c on c.assignment_id = a.assignment_id
  where not a.is_deleted
),

grouped as (
  select
    t.company_id,
    t.agency_id,
    coalesce(a.trade_id, '-1') as trade_id,
    coalesce(a.rate_type, 'none') as rate_type,
    coalesce(a.pay_type, 'none') as pay_type,
    coalesce(a.reason, 'assignment not known') as reason,
    count(*) as timesheets,
    sum(coalesce(t.net_hours, 0)) as net_hours,
    sum(coalesce(t.charge_total, 0)) as charge_value
  from star.fact_timesheet as t
  left join reasoned as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
  group by 1, 2, 3, 4, 5, 6
),

totalled as (
  select grouped.*, sum(grouped.net_hours) over (partition by grouped.company_id) as company_hours
  from grouped
)

select
  g.company_id,
  g.agency_id,
  g.trade_id,
  g.rate_type,
  g.pay_type,
  g.reason,
  g.timesheets,
  g.net_hours,
  g.charge_value,
  g.company_hours,
  cast(g.net_hours as double precision) / nullif(cast(g.company_hours as double precision), 0) as hours_share
from totalled as g
