-- Every resource of the catalogue with the table of its records.
resource as (
  select declared.resource, declared.table_name, declared.metric, declared.is_total_of_backfill, declared.is_total_of_snapshots
  from (values
    -- For each resource:
    ({resource}, {table_name}, {metric}, {is_total_of_backfill}, {is_total_of_snapshots}),
  ) as declared (resource, table_name, metric, is_total_of_backfill, is_total_of_snapshots)
),
