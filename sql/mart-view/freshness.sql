-- How long ago each resource was read, by the database's clock when you query it: the hours keep growing when syncs stop.
-- Grain: one row per resource of the service.
-- Question: Was the data read last night?
-- Sources: mart.data_health
-- Measures: max hours_since_read
-- Columns:
--   resource text key: Name of the resource, as on the command line.
--   table_name text: Table of its records, with the schema.
--   last_read_at timestamptz: End of the last run that read the resource without failing; empty when there was none.
--   hours_since_read double precision: Hours from then to now.
--   is_fresh boolean: Whether it was read within the last 26 hours.
--   completeness text: How complete it is: complete, incomplete, not read yet, not for this key, or no total to compare with.
--   is_complete boolean: Whether completeness is complete; false for incomplete, empty for every other word.
--   built_at timestamptz: When the row was built: an old time means that builds have stopped.
select
  resource,
  table_name,
  last_read_at,
  (cast(extract(epoch from now()) as double precision) - cast(extract(epoch from last_read_at) as double precision)) / 3600.0
    as hours_since_read,
  coalesce(
    cast(extract(epoch from now()) as double precision) - cast(extract(epoch from last_read_at) as double precision) <= 26 * 3600.0,
    false
  ) as is_fresh,
  completeness,
  is_complete,
  loaded_at as built_at
from mart.data_health
