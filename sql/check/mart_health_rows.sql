-- In mart.data_health, every row of a table is live, inferred or deleted.
-- Severity: error
-- Sources: mart.data_health
-- Next: look for rows of the table whose is_deleted or is_inferred is empty; the previous rows stay until the check passes
select m.resource as record
from mart.data_health as m
where m.live_rows > m.row_count or m.live_rows + m.inferred_rows + m.deleted_rows < m.row_count
