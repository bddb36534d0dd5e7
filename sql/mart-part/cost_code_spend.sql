-- Weeks and projects of changed timesheets and expenses, as they are and as they were.
with
-- Include: booked_week

select b.week_ending_date, b.company_id, b.project_id
from booked_week as b
