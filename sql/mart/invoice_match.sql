-- Each invoice beside the timesheets that it names: whether what is billed is what was worked. The charge of the timesheets is
-- their total as the service gives it; work by the piece stands beside it, as some totals hold it and others do not.
-- Grain: one row per invoice.
-- Question: Are we billed for what was worked?
-- Sources: star.bridge_invoice_timesheet, star.fact_invoice, star.fact_piece_rate_entry, star.fact_timesheet
-- Columns:
--   invoice_id text key: The invoice.
--   invoice_reference text: Its reference.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   invoice_type text: Between whom: supplierToClient, supplierToMsp or mspToClient.
--   status text: State of the invoice.
--   week_ending_date date: Last day of the week that it covers.
--   timesheets_named integer: Timesheets that the invoice names.
--   timesheets_found integer: Of them, those that are stored and not deleted.
--   timesheets_not_approved integer: Of those found, those that are not approved now.
--   timesheets_billed_twice integer: Of those named, those that another invoice of the same type names too.
--   invoice_value numeric(18,4): Subtotal of the invoice, before VAT and expenses.
--   timesheet_value numeric(18,4): Charge of the timesheets found.
--   piece_value numeric(18,4): Charge of their work by the piece.
--   difference_value numeric(18,4): invoice_value - timesheet_value: above 0 when more is billed than was worked.
--   invoice_hours numeric(18,4): Net hours of the invoice.
--   timesheet_hours numeric(18,4): Net hours of the timesheets found.
--   match_state text: no timesheets, not all found, matched (to a penny), matched with pieces, billed more, or billed less.
with piece as (
  select e.timesheet_id, sum(coalesce(e.total_charge_value, 0)) as piece_value
  from star.fact_piece_rate_entry as e
  where not e.is_deleted
  group by e.timesheet_id
),

named as (
  select distinct b.invoice_id, i.invoice_type, b.timesheet_id
  from star.bridge_invoice_timesheet as b
  inner join star.fact_invoice as i on i.invoice_id = b.invoice_id and not i.is_deleted
  where not b.is_deleted and b.timesheet_id is not null
),

counted as (
  select named.*, count(*) over (partition by named.invoice_type, named.timesheet_id) as invoices
  from named
),

linked as (
  select
    n.invoice_id,
    count(*) as timesheets_named,
    count(t.timesheet_id) as timesheets_found,
    count(t.timesheet_id) filter (where coalesce(t.status, '') <> 'approved') as timesheets_not_approved,
    count(*) filter (where n.invoices > 1) as timesheets_billed_twice,
    sum(coalesce(t.charge_total, 0)) as timesheet_value,
    sum(coalesce(t.net_hours, 0)) as timesheet_hours,
    sum(case when t.timesheet_id is null then 0 else coalesce(piece.piece_value, 0) end) as piece_value
  from counted as n
  left join star.fact_timesheet as t on t.timesheet_id = n.timesheet_id and not t.is_deleted
  left join piece on piece.timesheet_id = n.timesheet_id
  group by n.invoice_id
),

compared as (
  select
    i.*,
    coalesce(linked.timesheets_named, 0) as timesheets_named,
    coalesce(linked.timesheets_found, 0) as timesheets_found,
    coalesce(linked.timesheets_not_approved, 0) as timesheets_not_approved,
    coalesce(linked.timesheets_billed_twice, 0) as timesheets_billed_twice,
    coalesce(linked.timesheet_value, 0) as timesheet_value,
    coalesce(linked.timesheet_hours, 0) as timesheet_hours,
    coalesce(linked.piece_value, 0) as piece_value,
    coalesce(i.subtotal, 0) - coalesce(linked.timesheet_value, 0) as difference_value
  from star.fact_invoice as i
  left join linked on linked.invoice_id = i.invoice_id
  where not i.is_deleted
)

select
  c.invoice_id,
  c.reference as invoice_reference,
  c.company_id,
  c.agency_id,
  c.invoice_type,
  c.status,
  c.week_ending_date,
  c.timesheets_named,
  c.timesheets_found,
  c.timesheets_not_approved,
  c.timesheets_billed_twice,
  coalesce(c.subtotal, 0) as invoice_value,
  c.timesheet_value,
  c.piece_value,
  c.difference_value,
  c.net_hours as invoice_hours,
  c.timesheet_hours,
  case
    when c.timesheets_named = 0 then 'no timesheets'
    when c.timesheets_found < c.timesheets_named then 'not all found'
    when abs(c.difference_value) <= 0.01 then 'matched'
    when c.piece_value > 0
      and (abs(c.difference_value - c.piece_value) <= 0.01 or abs(c.difference_value + c.piece_value) <= 0.01)
      then 'matched with pieces'
    when c.difference_value > 0 then 'billed more'
    else 'billed less'
  end as match_state
from compared as c
