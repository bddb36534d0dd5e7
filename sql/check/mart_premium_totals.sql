-- The kinds of hour of mart.overtime_uplift add up to the whole of their week and project.
-- Severity: error
-- Sources: mart.overtime_uplift
-- Next: see whether star.dim_hour_type holds each value bucket once; yesterday's rows stay until it is right
select cast(m.week_ending_date as text) || '|' || m.company_id || '|' || m.project_id as record
from mart.overtime_uplift as m
group by m.week_ending_date, m.company_id, m.project_id
having sum(m.pay_value) <> max(m.week_pay_value) or sum(m.charge_value) <> max(m.week_charge_value)
