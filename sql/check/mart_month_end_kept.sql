-- The kept figures of mart.accrual_month_end are those of ops.accrual_month_end.
-- Severity: error
-- Sources: mart.accrual_month_end, ops.accrual_month_end
-- Next: run muster build accrual_month_end --all; yesterday's rows stay until the check passes
select cast(k.month_end_date as text) || ': ' || cast(m.kept_value as text) || ' of ' || cast(k.kept_value as text) as record
from (
  select month_end_date, sum(accrued_value) as kept_value, sum(records) as kept_records
  from ops.accrual_month_end
  group by month_end_date
) as k
left join (
  select month_end_date, sum(kept_value) as kept_value, sum(kept_records) as kept_records
  from mart.accrual_month_end
  group by month_end_date
) as m on m.month_end_date = k.month_end_date
where m.kept_value is distinct from k.kept_value or m.kept_records is distinct from k.kept_records
