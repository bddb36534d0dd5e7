-- A timesheet's pay and charge add up as most of its company's do (mart.overtime_uplift.total_basis): ten buckets, with or
-- without piece work and expenses.
-- Severity: warn
-- Sources: star.fact_timesheet, star.fact_piece_rate_entry
-- Next: look the timesheet up in the service; if it shows the same, report the sums to it, else run muster replay
with
-- Include: timesheet_total

unfit as (
  select f.timesheet_id, b.total_basis
  from total_fit as f
  inner join total_basis as b on b.company_id = f.company_id
  where not case b.total_basis
    when 'buckets' then f.is_buckets
    when 'buckets and pieces' then f.is_pieces
    when 'buckets and expenses' then f.is_expenses
    else f.is_both
  end
)

select u.timesheet_id || ' is not the sum of ' || u.total_basis as record
from unfit as u
