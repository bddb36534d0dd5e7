-- Every date of a record lies between the days of the setting plausibleDates; others are no day in star and marts.
-- Severity: warn
-- Sources: star.dim_project, star.fact_timesheet, star.fact_piece_rate_line, star.fact_timelog, star.fact_expense,
--   star.fact_invoice, star.dim_purchase_order, star.fact_credit_note, star.fact_requisition, star.fact_assignment
-- Next: read the record with muster get and have the date corrected in the service, or widen plausibleDates
select p.project_id || ', planned start' as record, 'star.dim_project' as subject from star.dim_project as p
where not p.is_deleted and p.planned_start_at is not null and p.planned_start_date is null
union all
select p.project_id || ', planned end' as record, 'star.dim_project' as subject from star.dim_project as p
where not p.is_deleted and p.planned_end_at is not null and p.planned_end_date is null
union all
select t.timesheet_id || ', week ending' as record, 'star.fact_timesheet' as subject from star.fact_timesheet as t
where not t.is_deleted and t.week_ending_at is not null and t.week_ending_date is null
union all
select p.piece_rate_line_id || ', work' as record, 'star.fact_piece_rate_line' as subject from star.fact_piece_rate_line as p
where not p.is_deleted and p.work_at is not null and p.work_date is null
union all
select t.timelog_id || ', work' as record, 'star.fact_timelog' as subject from star.fact_timelog as t
where not t.is_deleted and t.work_at is not null and t.work_date is null
union all
select e.expense_id || ', expense' as record, 'star.fact_expense' as subject from star.fact_expense as e
where not e.is_deleted and e.expense_at is not null and e.expense_date is null
union all
select i.invoice_id || ', week ending' as record, 'star.fact_invoice' as subject from star.fact_invoice as i
where not i.is_deleted and i.week_ending_at is not null and i.week_ending_date is null
union all
select i.invoice_id || ', due' as record, 'star.fact_invoice' as subject from star.fact_invoice as i
where not i.is_deleted and i.due_at is not null and i.due_date is null
union all
select p.purchase_order_id || ', start' as record, 'star.dim_purchase_order' as subject from star.dim_purchase_order as p
where not p.is_deleted and p.start_at is not null and p.start_date is null
union all
select p.purchase_order_id || ', end' as record, 'star.dim_purchase_order' as subject from star.dim_purchase_order as p
where not p.is_deleted and p.end_at is not null and p.end_date is null
union all
select c.credit_note_id || ', week ending' as record, 'star.fact_credit_note' as subject from star.fact_credit_note as c
where not c.is_deleted and c.week_ending_at is not null and c.week_ending_date is null
union all
select c.credit_note_id || ', payment' as record, 'star.fact_credit_note' as subject from star.fact_credit_note as c
where not c.is_deleted and c.payment_at is not null and c.payment_date is null
union all
select r.requisition_id || ', approved' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.approved_at is not null and r.approved_date is null
union all
select r.requisition_id || ', planned start' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.planned_start_at is not null and r.planned_start_date is null
union all
select r.requisition_id || ', planned end' as record, 'star.fact_requisition' as subject from star.fact_requisition as r
where not r.is_deleted and r.planned_end_at is not null and r.planned_end_date is null
union all
select a.assignment_id || ', start' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.start_at is not null and a.start_date is null
union all
select a.assignment_id || ', end' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.end_at is not null and a.end_date is null
union all
select a.assignment_id || ', timesheet start' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.timesheet_start_at is not null and a.timesheet_start_date is null
union all
select a.assignment_id || ', completed' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.completed_at is not null and a.completed_date is null
union all
select a.assignment_id || ', confirmed' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.confirmed_at is not null and a.confirmed_date is null
union all
select a.assignment_id || ', cloned' as record, 'star.fact_assignment' as subject from star.fact_assignment as a
where not a.is_deleted and a.cloned_at is not null and a.clone_date is null
