-- A list holds the rows that the service counted when it was last read whole, but for a few that came while it was read.
-- Severity: error
-- Sources: star.dim_api_key, star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet,
--   star.fact_expense, star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, star.fact_recruitment_metric_row, star.fact_requisition, star.fact_assignment,
--   star.dim_trade, star.dim_rate, star.fact_credit_note, star.dim_purchase_order, ops.watermark
-- Next: run muster backfill for the resource: rows are missing that the service has
with
-- Include: resource_table

-- Include: held_rows

own as (
  select resource, table_name from resource_table where is_own
)

select held.resource || ', ' || cast(held.then_rows as text) || ' of ' || cast(held.total as text) as record,
  own.table_name as subject
from held
inner join own on own.resource = held.resource
where held.total - held.then_rows > greatest(5, floor(held.total / 1000.0))
