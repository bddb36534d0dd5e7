-- In mart.purchase_order_forecast, no forecast is below the amount spent unless corrections outweigh the recent spend, and
-- the variance is the value of the order less the forecast.
-- Severity: error
-- Sources: mart.purchase_order_forecast
-- Next: run muster build purchase_order_burn first; the previous rows stay until the check passes
select f.purchase_order_reference_key as record
from mart.purchase_order_forecast as f
where (f.forecast_value < f.spent_value and f.weekly_spend_value >= 0) or f.variance_value <> f.order_value - f.forecast_value
