-- Compares our figures of the recruitment metrics with the service's, as of the last crosscheck.
-- Grain: one row per metric, group and figure.
-- Question: Do our figures agree with the service's, and if not, why?
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
--   verdict text: Verdict: equal, explained, uncovered (from requisitions known by reference only) or unexplained; counts
--     must match exactly, days and hours to a hundredth.
--   reason text: Causes of a difference, in sentences; null where there is none.
--   records text: References of the records behind it, as a JSON list; null where none are known.
--   metric_definition_id text: Definition under which our figure was computed.
--   checked_at timestamptz: When it was compared.
select
  crosscheck.metric, crosscheck.group_by, crosscheck.group_key, crosscheck.figure, crosscheck.group_label,
  crosscheck.ours, crosscheck.theirs, crosscheck.difference, crosscheck.verdict, crosscheck.reason, crosscheck.records,
  crosscheck.definition_id as metric_definition_id, crosscheck.checked_at
from ops.crosscheck as crosscheck
