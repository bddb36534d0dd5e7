-- mart.invoice_match has every invoice once, with the sum of their subtotals.
-- Severity: error
-- Sources: mart.invoice_match, star.fact_invoice
-- Next: look for an invoice that is stored twice with muster check keys_unique; yesterday's rows stay until the check passes
select 'invoices ' || cast(m.n as text) || ' of ' || cast(s.n as text) || ', value ' || cast(m.value as text) || ' of ' || cast(s.value as text) as record
from (select count(*) as n, coalesce(sum(x.invoice_value), 0) as value from mart.invoice_match as x) as m
cross join (
  select count(*) as n, coalesce(sum(i.subtotal), 0) as value from star.fact_invoice as i where not i.is_deleted
) as s
where m.n <> s.n or m.value <> s.value
