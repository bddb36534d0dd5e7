-- Times are in order: creation before change, start before end, creation before approval, receipt before acceptance.
-- Severity: warn
-- Sources: star.fact_timesheet, star.fact_expense, star.fact_invoice, star.fact_requisition, star.fact_requisition_agency,
--   star.fact_assignment, star.fact_credit_note, star.dim_project, star.dim_purchase_order
-- Next: read the record with muster get and report it to the service; until it is corrected, the marts show a negative
-- number of days
select t.timesheet_id || ', timesheet created after updated' as record, 'star.fact_timesheet' as subject from star.fact_timesheet as t
where not t.is_deleted and t.created_at > t.updated_at
union all
select t.timesheet_id || ', timesheet starts after it ends' as record, 'star.fact_timesheet' as subject from star.fact_timesheet as t
where not t.is_deleted and t.start_at > t.end_at
union all
select t.timesheet_id || ', timesheet approved before created' as record, 'star.fact_timesheet' as subject from star.fact_timesheet as t
where not t.is_deleted and t.approved_at < t.created_at
union all
select e.expense_id || ', expense created after updated' as record, 'star.fact_expense' as subject from star.fact_expense as e
where not e.is_deleted and e.created_at > e.updated_at
union all
select e.expense_id || ', expense approved before created' as record, 'star.fact_expense' as subject from star.fact_expense as e
where not e.is_deleted and e.approved_at < e.created_at
union all
select i.invoice_id || ', invoice created after updated' as record, 'star.fact_invoice' as subject from star.fact_invoice as i
where not i.is_deleted and i.created_at > i.updated_at
union all
select i.invoice_id || ', invoice confirmed before created' as record, 'star.fact_invoice' as subject from star.fact_invoice as i
where not i.is_deleted and i.confirmed_at < i.created_at
union all
select r.requisition_id || ', requisition created after updated' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.created_at > r.updated_at
union all
select r.requisition_id || ', requisition starts after it ends' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.planned_start_date > r.planned_end_date
union all
select r.requisition_id || ', requisition approved before created' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.approved_at < r.created_at
union all
select a.requisition_agency_key || ', agency accepted before it received' as record, 'star.fact_requisition_agency' as subject from star.fact_requisition_agency as a
where not a.is_deleted and a.accepted_at < a.received_at
union all
select a.assignment_id || ', assignment created after updated' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.created_at > a.updated_at
union all
select a.assignment_id || ', assignment starts after it ends' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.start_date > a.end_date
union all
select c.credit_note_id || ', credit note created after updated' as record, 'star.fact_credit_note' as subject from star.fact_credit_note as c
where not c.is_deleted and c.created_at > c.updated_at
union all
select p.project_id || ', project starts after it ends' as record, 'star.dim_project' as subject from star.dim_project as p
where not p.is_deleted and p.planned_start_date > p.planned_end_date
union all
select o.purchase_order_id || ', purchase order starts after it ends' as record, 'star.dim_purchase_order' as subject from star.dim_purchase_order as o
where not o.is_deleted and o.start_date > o.end_date
