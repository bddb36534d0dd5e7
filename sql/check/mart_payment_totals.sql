-- In mart.payment_ageing, the amounts by age add up to the open amount, which covers everything issued and not paid.
-- Severity: error
-- Sources: mart.payment_ageing
-- Next: look for an invoice that is stored twice with muster check keys_unique; the previous rows stay until the check passes
with running as (
  select
    p.*,
    sum(p.issued_value - p.paid_value) over (
      partition by p.perspective, p.company_id, p.agency_id order by p.month_start_date
    ) as unpaid_value
  from mart.payment_ageing as p
)

select r.perspective || ' ' || r.company_id || ' ' || r.agency_id || ' ' || cast(r.month_start_date as text) as record
from running as r
where r.open_value <> r.not_due_value + r.overdue_1_to_30_value + r.overdue_31_to_60_value + r.overdue_61_to_90_value
    + r.overdue_over_90_value
  or r.unpaid_value > r.open_value
