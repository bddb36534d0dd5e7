-- How the alerts of the settings stand after the last build, and when they fired before.
-- Grain: one row per alert, group and time at which its state began.
-- Question: Which alerts fire now?
-- Sources: ops.alert
-- Measures: none measured_value, low_value, high_value
-- Columns:
--   alert_name text key: Name in the settings.
--   group_key text key: Currency or other value that figures are never added over; empty without one.
--   began_at timestamptz key: When a build found it in this state, or fired it for a new period.
--   ended_at timestamptz: When a build found another state; empty for the current one.
--   alert_state text: fires, quiet, or unknown when it could not be evaluated.
--   measure text: Mart and measure.
--   condition text: Condition, as in the settings.
--   period_date date: Date of the settled week or month; empty for a measure without one.
--   measured_value double precision: Value of the measure.
--   low_value double precision: Lower end of the usual range.
--   high_value double precision: Upper end of the usual range.
--   query text: SQL that shows the rows.
--   note text: Why it could not be evaluated.
select
  alert.alert as alert_name, alert.group_key, alert.began_at, alert.ended_at, alert.state as alert_state, alert.measure,
  alert.condition, alert.period as period_date, alert.value as measured_value, alert.low as low_value, alert.high as high_value,
  alert.query, alert.note
from ops.alert as alert
