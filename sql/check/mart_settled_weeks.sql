-- The rows of a week in mart.labour_spend_weekly agree on whether it is settled.
-- Severity: error
-- Sources: mart.labour_spend_weekly
-- Next: build the marts again with muster build --all; the previous rows stay until the check passes
select cast(x.week_ending_date as text) as record
from mart.labour_spend_weekly as x
group by x.week_ending_date
having bool_or(x.is_settled_week) <> bool_and(x.is_settled_week)
