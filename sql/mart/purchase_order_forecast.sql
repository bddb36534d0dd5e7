-- Forecasts what each purchase order that was read will have spent by its last day, at the rate of the last eight weeks.
-- Grain: one row per purchase order of a company that was read.
-- Question: Which orders will be overspent or left over, and when do they run out?
-- Assumption: spending and the rate of spending are those of mart.purchase_order_burn. The weeks left run from today to the
-- last day of the order, with fractions.
-- Sources: mart.purchase_order_burn
-- Measures: sum order_value, spent_value, weekly_spend_value, forecast_value, variance_value; average days_left,
--   days_short; ratio variance_ratio = variance_value / order_value
-- Columns:
--   purchase_order_reference_key text key: The order, as in mart.purchase_order_burn.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   end_date date: Last day of the order.
--   order_value numeric(18,4): Value of the order; the denominator of variance_ratio.
--   spent_value numeric(18,4): Charge of the approved timesheets on it.
--   weekly_spend_value numeric(18,4): Charge a week of the last eight weeks.
--   days_left integer: Days from today to the last day; 0 when it has passed, empty when it is not known.
--   forecast_value numeric(18,4): Amount spent by the last day: spent_value plus weekly_spend_value for days_left.
--   variance_value numeric(18,4): order_value - forecast_value: below 0 when the order will be overspent.
--   variance_ratio double precision: variance_value / order_value.
--   run_out_date date: Day on which the rest is spent at that rate; empty when nothing was spent lately.
--   days_short integer: Days from run_out_date to the last day; below 0 when the money outlasts the order.
--   forecast_state text: ended, no recent spend, runs out before its end, lasts to its end, or not known.
with forecast as (
  select
    b.*,
    greatest(cast(b.end_date - :today as integer), 0) as days_left,
    cast(
      cast(b.spent_value as double precision)
      + cast(b.weekly_spend_value as double precision) * (cast(greatest(cast(b.end_date - :today as integer), 0) as double precision) / 7.0)
      as numeric(18, 4)
    ) as forecast_value
  from mart.purchase_order_burn as b
  where b.is_read
)

select
  f.purchase_order_reference_key,
  f.company_id,
  f.agency_id,
  f.end_date,
  f.order_value,
  f.spent_value,
  f.weekly_spend_value,
  case when f.end_date is not null then f.days_left end as days_left,
  case when f.end_date is not null then f.forecast_value end as forecast_value,
  case when f.end_date is not null then f.order_value - f.forecast_value end as variance_value,
  case
    when f.end_date is not null
      then cast(f.order_value - f.forecast_value as double precision) / nullif(cast(f.order_value as double precision), 0)
  end as variance_ratio,
  f.projected_exhaustion_date as run_out_date,
  cast(f.end_date - f.projected_exhaustion_date as integer) as days_short,
  case
    when f.end_date is null or f.order_value is null then 'not known'
    when f.end_date < :today then 'ended'
    when f.weekly_spend_value = 0 then 'no recent spend'
    when f.projected_exhaustion_date < f.end_date then 'runs out before its end'
    else 'lasts to its end'
  end as forecast_state
from forecast as f
