-- One row for each grouping by one key, and one for all; the same columns as rows of :asked.
  select 'all' as group_by, false as by_company, false as by_project, false as by_agency, false as by_month, false as by_week
  union all select 'company', true, false, false, false, false
  union all select 'project', false, true, false, false, false
  union all select 'agency', false, false, true, false, false
  union all select 'month', false, false, false, true, false
  union all select 'week', false, false, false, false, true
