-- No timesheet of mart.unbilled_accrual, and no timesheet of a claim that the agency billed to the provider, is on an invoice
-- to the hiring company.
-- Severity: error
-- Sources: mart.unbilled_accrual, star.bridge_invoice_timesheet, star.fact_invoice
-- Next: run muster build again, as an invoice arrived during the build; the previous rows stay until the check passes
select m.timesheet_id as record
from mart.unbilled_accrual as m
where (m.accrual_state <> 'claims' or m.is_billed_to_msp) and exists (
  select 1
  from star.bridge_invoice_timesheet as b
  inner join star.fact_invoice as i on i.invoice_id = b.invoice_id
  where b.timesheet_id = m.timesheet_id and not b.is_deleted and not i.is_deleted
    and coalesce(i.invoice_type, '') <> 'supplierToMsp')
