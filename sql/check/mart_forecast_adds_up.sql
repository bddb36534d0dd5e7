-- In mart.purchase_order_forecast, an order is never forecast below what is spent, and the variance is the rest of its value.
-- Severity: error
-- Sources: mart.purchase_order_forecast
-- Next: run muster build purchase_order_burn first; yesterday's rows stay until the check passes
select f.purchase_order_reference_key as record
from mart.purchase_order_forecast as f
where f.forecast_value < f.spent_value or f.variance_value <> f.order_value - f.forecast_value
