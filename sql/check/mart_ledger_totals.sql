-- mart.invoice_ledger has every invoice and credit note once, with the sums of both.
-- Severity: error
-- Sources: mart.invoice_ledger, star.fact_invoice, star.fact_credit_note
-- Next: look for an invoice or credit note that is stored twice; yesterday's rows stay until the check passes
select cast(m.documents as text) || ' of ' || cast(i.documents + c.documents as text) || ' documents, ' || cast(m.final_value as text)
  || ' of ' || cast(i.final_value - c.final_value as text) as record
from (
  select count(*) as documents, coalesce(sum(x.final_value), 0) as final_value from mart.invoice_ledger as x
) as m
cross join (
  select count(*) as documents, coalesce(sum(x.final_total), 0) as final_value from star.fact_invoice as x where not x.is_deleted
) as i
cross join (
  select count(*) as documents, coalesce(sum(x.final_total), 0) as final_value from star.fact_credit_note as x where not x.is_deleted
) as c
where m.documents <> i.documents + c.documents or m.final_value <> i.final_value - c.final_value
