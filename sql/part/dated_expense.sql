-- Expenses with their week: that of their timesheet, else the week of their day, which ends on the weekday configured for
-- the company, else on Sunday. Further columns come from the timesheet.
dated_expense as (
  select
    e.*,
    t.week_ending_date is null as has_no_timesheet,
    t.timesheet_id as sheet_id,
    t.reference as sheet_reference,
    t.site_id as sheet_site_id,
    t.assignment_id as sheet_assignment_id,
    t.rate_type as sheet_rate_type,
    case
      when t.week_ending_date is not null then t.week_ending_date
      else e.expense_date + cast((7 + coalesce(case lower(c.weekend_day)
        when 'monday' then 1 when 'tuesday' then 2 when 'wednesday' then 3 when 'thursday' then 4
        when 'friday' then 5 when 'saturday' then 6 when 'sunday' then 7
      end, 7) - cast(extract(isodow from e.expense_date) as integer)) % 7 as integer)
    end as week_ending_date
  from star.fact_expense as e
  left join star.fact_timesheet as t on t.timesheet_id = e.timesheet_id and not t.is_deleted
  left join star.dim_company as c on c.company_id = e.company_id
  where not e.is_deleted
),
