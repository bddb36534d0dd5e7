-- The sum of credit notes on an invoice is the sum of its stored credit notes, before VAT.
-- Severity: warn
-- Sources: star.fact_invoice, star.fact_credit_note
-- Next: run muster discover with the ids, or wait for events: nothing else gives the ids of credit notes
select i.invoice_id as record
from star.fact_invoice as i
left join (
  select c.invoice_id, sum(coalesce(c.subtotal, 0)) as credited
  from star.fact_credit_note as c
  where not c.is_deleted and c.invoice_id is not null
  group by c.invoice_id
) as stored on stored.invoice_id = i.invoice_id
where not i.is_deleted and abs(coalesce(i.credit_notes, 0) - coalesce(stored.credited, 0)) > 0.05
