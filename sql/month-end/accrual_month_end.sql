-- Records the accrual of the last month that had ended when the service was last read, in ops.accrual_month_end. The first
-- build after the end of a month records it, and no later build changes it. While one of its lists is incomplete nothing is
-- recorded, and the next build tries again.
with
-- Include: dated_expense

-- Include: owed_work

-- Include: month_end_accrual

-- Include: incomplete_resource

last_month as (
  select max(m.month_end_date) as month_end_date from accrued_month as m
)

select
  m.month_end_date, m.company_id, m.project_id, m.agency_id, m.accrual_state, m.records, m.net_hours, m.accrued_value
from month_end_accrual as m
inner join last_month as l on l.month_end_date = m.month_end_date
where not exists (select 1 from incomplete_resource as n where n.resource in ('timesheets', 'expenses', 'invoices'))
