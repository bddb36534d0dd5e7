-- The charge of each assignment beside the rate card of its trade, and the timesheets charged above the card.
-- Grain: one row per assignment.
-- Question: Are we paid and charged above card?
-- Assumption: a card for the project and agency comes before one for the project, then one for the agency, then a general one;
-- among equals the one that names the region and sector, then the newest. The service does not document this. An hourly
-- assignment is compared with hourly cards, a daily one with daily cards; timesheets count by their weekday rate. A rate by
-- the hour and a rate by the day are never compared: a timesheet of another pay type than its assignment is left out.
-- Sources: star.fact_assignment, star.fact_rate, star.fact_timesheet
-- Measures: average card_pay_rate, card_charge_rate, pay_rate, charge_rate, charge_variance within pay_type; max
--   highest_timesheet_charge_rate within pay_type; sum timesheets, timesheets_of_other_pay_type, timesheets_above_card,
--   above_card_hours
-- Columns:
--   assignment_id text key: The assignment.
--   assignment_reference text: Its reference.
--   status text: State of the assignment.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   trade_id text: The trade; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   rate_type text: Engagement type: cis, paye or psc.
--   pay_type text: How pay is counted: hourly or daily; the basis of every rate in the row; none when it is not known.
--   rate_id text: The card that applies; empty when none is known.
--   card_reach text: Reach of the card: project and agency, project, agency or general; none when no card is known.
--   card_pay_rate numeric(18,4): Pay of the card.
--   card_charge_rate numeric(18,4): Charge of the card.
--   pay_rate numeric(18,4): Pay of the assignment.
--   charge_rate numeric(18,4): Charge of the assignment.
--   charge_variance numeric(18,4): Charge of the assignment less that of the card.
--   is_above_card boolean: Whether it is charged above card; empty when no card is known.
--   timesheets bigint: Approved timesheets with a weekday rate of this pay type.
--   timesheets_of_other_pay_type bigint: Approved timesheets with a weekday rate of another pay type; in no other column.
--   timesheets_above_card bigint: Timesheets whose weekday charge is above the card; empty when no card is known.
--   above_card_hours numeric(18,4): Net hours of the timesheets above the card.
--   highest_timesheet_charge_rate numeric(18,4): Highest weekday charge of its timesheets.
with
-- Include: rate_card

candidate as (
  select
    card.assignment_id,
    card.rate_id,
    card.pay,
    card.charge,
    card.reach,
    row_number() over (
      partition by card.assignment_id order by card.wider, card.source_updated_at desc nulls last, card.rate_id
    ) as place
  from rate_card as card
  where card.charge is not null
),

rated_timesheet as (
  select
    t.assignment_id,
    t.net_hours,
    case when coalesce(t.pay_type, a.pay_type, 'none') = coalesce(a.pay_type, 'none') then t.rate_wd_charge end as charge,
    case when coalesce(t.pay_type, a.pay_type, 'none') <> coalesce(a.pay_type, 'none') then t.rate_wd_charge end as other_charge
  from star.fact_timesheet as t
  inner join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved'
),

worked as (
  select
    t.assignment_id,
    count(t.charge) as timesheets,
    count(t.other_charge) as timesheets_of_other_pay_type,
    sum(case when t.charge > c.charge then 1 when c.charge is not null then 0 end) as timesheets_above_card,
    sum(case when t.charge > c.charge then coalesce(t.net_hours, 0) when c.charge is not null then 0 end) as above_card_hours,
    max(t.charge) as highest_rate
  from rated_timesheet as t
  left join candidate as c on c.assignment_id = t.assignment_id and c.place = 1
  group by t.assignment_id
)

select
  a.assignment_id,
  a.reference as assignment_reference,
  a.status,
  a.company_id,
  a.project_id,
  a.trade_id,
  a.agency_id,
  a.rate_type,
  coalesce(a.pay_type, 'none') as pay_type,
  card.rate_id,
  coalesce(card.reach, 'none') as card_reach,
  card.pay as card_pay_rate,
  card.charge as card_charge_rate,
  a.pay_rate,
  a.charge_rate,
  a.charge_rate - card.charge as charge_variance,
  a.charge_rate > card.charge as is_above_card,
  coalesce(worked.timesheets, 0) as timesheets,
  coalesce(worked.timesheets_of_other_pay_type, 0) as timesheets_of_other_pay_type,
  case when card.rate_id is not null then coalesce(worked.timesheets_above_card, 0) end as timesheets_above_card,
  case when card.rate_id is not null then coalesce(worked.above_card_hours, 0) end as above_card_hours,
  worked.highest_rate as highest_timesheet_charge_rate
from star.fact_assignment as a
left join candidate as card on card.assignment_id = a.assignment_id and card.place = 1
left join worked on worked.assignment_id = a.assignment_id
where not a.is_deleted
