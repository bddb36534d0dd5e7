-- A list holds exactly the rows that the service counted when it was last read whole; those that came later do not count.
-- Severity: warn
-- Sources: star.dim_api_key, star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet,
--   star.fact_expense, star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, star.fact_recruitment_metric_row, star.fact_requisition, star.fact_assignment,
--   star.dim_trade, star.dim_rate, star.fact_credit_note, star.dim_purchase_order, ops.watermark,
--   ops.window
-- Next: run muster sync, then muster sweep: too few came while the list was read, too many were deleted at the source
with
-- Include: resource_table

-- Include: held_rows

-- Include: snapshot_total

list as (
  select resource, total, then_rows from held where total is not null
  union all
  select held.resource, s.total, held.live_rows as then_rows
  from held
  inner join snapshot_total as s on s.resource = held.resource
)

select list.resource || ', ' || cast(list.then_rows as text) || ' of ' || cast(cast(list.total as bigint) as text) as record,
  own.table_name as subject
from list
inner join resource_table as own on own.resource = list.resource and own.is_own
where list.total <> list.then_rows
