-- How long ago each resource was read, against the clock of the reader: a warehouse that is no longer read grows old.
-- Grain: one row per resource of the service.
-- Question: Is what I see from last night?
-- Sources: mart.data_health
-- Columns:
--   resource text key: Name of the resource, as on the command line.
--   table_name text: Table of its records, with the schema.
--   last_read_at timestamptz: End of the last run that read the resource without failing; empty when none did.
--   hours_since_read double precision: Hours from then to now. Does not add up.
--   is_fresh boolean: Whether it was read within the last 26 hours.
--   is_whole boolean: False when records may be missing, or deleted ones may be left; empty when it was never read.
--   built_at timestamptz: When the row was made; a build that no longer runs shows here.
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
  is_whole,
  loaded_at as built_at
from mart.data_health
