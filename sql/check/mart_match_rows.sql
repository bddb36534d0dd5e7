-- mart.invoice_match has every invoice once for who pays it, the client or the provider, and its values with the expenses that it took out
-- are the sum of the subtotals.
-- Severity: error
-- Sources: mart.invoice_match, star.fact_invoice
-- Next: look for an invoice that is stored twice with muster check keys_unique; the previous rows stay until the check passes
select 'invoices ' || cast(m.n as text) || ' of ' || cast(s.n as text) || ', value ' || cast(m.value as text) || ' of ' || cast(s.value as text) as record
from (
  select count(*) as n, coalesce(sum(x.value), 0) as value
  from (
    select r.invoice_value + case when r.expense_basis = 'with expenses' then r.expense_value else 0 end as value
    from mart.invoice_match as r
    where r.perspective <> 'supplier'
  ) as x
) as m
cross join (
  select count(*) as n, coalesce(sum(i.subtotal), 0) as value from star.fact_invoice as i where not i.is_deleted
) as s
where m.n <> s.n or m.value <> s.value
