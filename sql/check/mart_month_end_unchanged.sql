-- The figures recorded in mart.accrual_month_end equal those of ops.accrual_month_end.
-- Severity: error
-- Sources: mart.accrual_month_end, ops.accrual_month_end
-- Next: run muster build accrual_month_end --all; the previous rows stay until the check passes
select cast(k.month_end_date as text) || ': ' || cast(m.recorded_value as text) || ' of ' || cast(k.recorded_value as text) as record
from (
  select month_end_date, sum(accrued_value) as recorded_value, sum(records) as recorded_records
  from ops.accrual_month_end
  group by month_end_date
) as k
left join (
  select month_end_date, sum(recorded_value) as recorded_value, sum(recorded_records) as recorded_records
  from mart.accrual_month_end
  group by month_end_date
) as m on m.month_end_date = k.month_end_date
where m.recorded_value is distinct from k.recorded_value or m.recorded_records is distinct from k.recorded_records
