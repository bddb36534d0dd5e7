-- The net hours of an invoice equal those of the timesheets it covers, where all of them are stored.
-- Severity: warn
-- Sources: star.fact_invoice, star.bridge_invoice_timesheet, star.fact_timesheet
-- Next: compare the invoice with its timesheets in the service: a timesheet amended after it was invoiced needs a credit note
select i.invoice_id as record
from star.fact_invoice as i
inner join (
  select b.invoice_id, count(*) as covered, count(t.timesheet_id) as stored, sum(coalesce(t.net_hours, 0)) as hours
  from star.bridge_invoice_timesheet as b
  left join star.fact_timesheet as t on t.timesheet_id = b.timesheet_id and not t.is_deleted
  where not b.is_deleted
  group by b.invoice_id
) as sheet on sheet.invoice_id = i.invoice_id
where not i.is_deleted and sheet.covered = sheet.stored and abs(i.net_hours - sheet.hours) > 0.01
