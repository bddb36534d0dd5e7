-- mart.invoice_ledger has every invoice and credit note once for who pays it, the client or the provider, and once for the
-- supplier unless the provider bills it. Their total is that of the invoices less the credit notes.
-- Severity: error
-- Sources: mart.invoice_ledger, star.fact_invoice, star.fact_credit_note
-- Next: look for an invoice or credit note that is stored twice; the previous rows stay until the check passes
select cast(m.documents as text) || ' of ' || cast(i.documents + c.documents as text) || ' documents, ' || cast(m.final_value as text)
  || ' of ' || cast(i.final_value - c.final_value as text) as record
from (
  select count(*) as documents, coalesce(sum(x.final_value), 0) as final_value
  from mart.invoice_ledger as x
  where x.perspective <> 'supplier'
) as m
cross join (
  select count(*) as documents, coalesce(sum(x.final_total), 0) as final_value from star.fact_invoice as x where not x.is_deleted
) as i
cross join (
  select count(*) as documents, coalesce(sum(x.final_total), 0) as final_value from star.fact_credit_note as x where not x.is_deleted
) as c
where m.documents <> i.documents + c.documents or m.final_value <> i.final_value - c.final_value
union all
select coalesce(p.document_key, s.document_key) || ' of the supplier' as record
from (
  select l.document_key, l.final_value
  from mart.invoice_ledger as l
  where l.perspective <> 'supplier' and coalesce(l.invoice_type, '') <> 'mspToClient'
) as p
full outer join (
  select l.document_key, l.final_value from mart.invoice_ledger as l where l.perspective = 'supplier'
) as s on s.document_key = p.document_key
where p.document_key is null or s.document_key is null or p.final_value <> s.final_value
