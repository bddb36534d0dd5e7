-- Our figures of the recruitment metrics beside the service's own, as the last crosscheck compared them.
-- Grain: one row per metric, group and figure.
-- Question: Do our figures and the service's agree, and where not, why?
-- Sources: ops.crosscheck
-- Measures: none ours, theirs, difference
-- Columns:
--   metric text key: Either timeToFill or workersOverHours.
--   group_by text key: Grouping: all, or its keys separated by commas.
--   group_key text key: Values of the keys separated by bars: ids, month as YYYY-MM, first day of the week; empty for all.
--   figure text key: The service's name of the figure.
--   group_label text: The group in words.
--   ours double precision: Our figure, in days, hours or counts; null where there is none.
--   theirs double precision: The service's figure; null where there is none.
--   difference double precision: Ours less theirs; null when either is.
--   verdict text: Whether it is equal, explained, uncovered (of requisitions known by reference only) or unexplained; counts are equal when they are, days and hours to a hundredth.
--   reason text: Causes of a difference, in sentences; null where there is none.
--   records text: References of the records behind it, as a JSON list; null where none are known.
--   metric_definition_id text: Definition under which our figure was computed.
--   checked_at timestamptz: When it was compared.
select
  crosscheck.metric, crosscheck.group_by, crosscheck.group_key, crosscheck.figure, crosscheck.group_label,
  crosscheck.ours, crosscheck.theirs, crosscheck.difference, crosscheck.verdict, crosscheck.reason, crosscheck.records,
  crosscheck.definition_id as metric_definition_id, crosscheck.checked_at
from ops.crosscheck as crosscheck
