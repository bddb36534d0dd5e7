-- Compares each invoice with the timesheets that it names: is the billed amount the worked one? The charge of the
-- timesheets is their total from the service. Piece work is a column of its own, as some totals include it and others do
-- not.
-- Grain: one row per invoice and perspective.
-- Question: Are we billed for what was worked?
-- Assumption: the contract does not say whether a subtotal includes the expenses of the invoice. An invoice that fits its
-- timesheets in one way only shows which; the others are read as most of those.
-- Sources: star.bridge_invoice_timesheet, star.fact_invoice, star.fact_piece_rate_entry, star.fact_timesheet
-- Measures: within perspective = client; sum timesheets_named, timesheets_found, timesheets_not_approved,
--   timesheets_billed_twice, invoice_value, expense_value, timesheet_value, piece_value, difference_value,
--   invoice_hours, timesheet_hours
-- Columns:
--   invoice_id text key: The invoice.
--   perspective text key: Whose view the row belongs to: client (invoices to hiring companies), provider (invoices to managed
--     service providers) or supplier (invoices of agencies). An invoice has a row in each view that it belongs to.
--   invoice_reference text: Its reference.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   invoice_type text: Who bills whom: supplierToClient, supplierToMsp or mspToClient.
--   status text: State of the invoice.
--   week_ending_date date: Last day of the week that it covers.
--   timesheets_named integer: Timesheets that the invoice names.
--   timesheets_found integer: Named timesheets that are stored and not deleted.
--   timesheets_not_approved integer: Found timesheets that are not approved now.
--   timesheets_billed_twice integer: Named timesheets that another invoice of the same type names too.
--   invoice_value numeric(18,4): Subtotal of the invoice before VAT, less its expenses where expense_basis is with expenses.
--   expense_value numeric(18,4): Expenses on the invoice.
--   expense_basis text: Whether the subtotal of the service includes the expenses: with expenses or without expenses, as this
--     invoice or else most invoices show; not known when none shows it, and then it is read as without.
--   timesheet_value numeric(18,4): Charge of the timesheets found.
--   piece_value numeric(18,4): Charge of their piece work.
--   difference_value numeric(18,4): invoice_value - timesheet_value: above 0 when more is billed than was worked.
--   invoice_hours numeric(18,4): Net hours of the invoice.
--   timesheet_hours numeric(18,4): Net hours of the timesheets found.
--   match_state text: no timesheets, not all found, matched (to a penny), matched with pieces, billed more, or billed less.
with
-- Include: perspective

piece as (
  select e.timesheet_id, sum(e.total_charge_value) as piece_value
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
    sum(t.charge_total) as timesheet_value,
    sum(t.net_hours) as timesheet_hours,
    sum(case when t.timesheet_id is null then 0 else piece.piece_value end) as piece_value
  from counted as n
  left join star.fact_timesheet as t on t.timesheet_id = n.timesheet_id and not t.is_deleted
  left join piece on piece.timesheet_id = n.timesheet_id
  group by n.invoice_id
),

summed as (
  select
    i.*,
    coalesce(i.subtotal, 0) as subtotal_value,
    coalesce(i.expenses, 0) as expense_value,
    coalesce(linked.timesheets_named, 0) as timesheets_named,
    coalesce(linked.timesheets_found, 0) as timesheets_found,
    coalesce(linked.timesheets_not_approved, 0) as timesheets_not_approved,
    coalesce(linked.timesheets_billed_twice, 0) as timesheets_billed_twice,
    coalesce(linked.timesheet_value, 0) as timesheet_value,
    coalesce(linked.timesheet_hours, 0) as timesheet_hours,
    coalesce(linked.piece_value, 0) as piece_value,
    coalesce(i.subtotal, 0) - coalesce(linked.timesheet_value, 0) as gap
  from star.fact_invoice as i
  left join linked on linked.invoice_id = i.invoice_id
  where not i.is_deleted
),

-- Whether each way to read the subtotal fits the timesheets, or the timesheets and their pieces.
fitted as (
  select
    s.*,
    abs(s.gap) <= 0.01 or abs(abs(s.gap) - s.piece_value) <= 0.01 as fits_without,
    abs(s.gap - s.expense_value) <= 0.01 or abs(abs(s.gap - s.expense_value) - s.piece_value) <= 0.01 as fits_with
  from summed as s
),

shown as (
  select
    f.*,
    case
      when f.timesheets_named = 0 or f.timesheets_found < f.timesheets_named or f.fits_with = f.fits_without then null
      when f.fits_with then 'with expenses'
      else 'without expenses'
    end as shown_basis
  from fitted as f
),

most_common as (
  select max(b.shown_basis) as basis
  from (
    select x.shown_basis, row_number() over (order by count(*) desc, x.shown_basis desc) as place
    from shown as x
    where x.shown_basis is not null
    group by x.shown_basis
  ) as b
  where b.place = 1
),

based as (
  select x.*, coalesce(x.shown_basis, m.basis, 'not known') as expense_basis
  from shown as x
  cross join most_common as m
),

compared as (
  select
    b.*,
    b.subtotal_value - case when b.expense_basis = 'with expenses' then b.expense_value else 0 end as invoice_value,
    b.gap - case when b.expense_basis = 'with expenses' then b.expense_value else 0 end as difference_value
  from based as b
)

select
  c.invoice_id,
  p.perspective,
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
  c.invoice_value,
  c.expense_value,
  c.expense_basis,
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
inner join perspective as p
  on p.invoice_type = case when c.invoice_type in ('supplierToMsp', 'mspToClient') then c.invoice_type else 'supplierToClient' end
