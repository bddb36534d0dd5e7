-- Turns the eight rate sets of a timesheet into rows; storing eight rows a timesheet would cost more than it is worth.
drop view if exists star.fact_timesheet_rate;
create view star.fact_timesheet_rate as
select
  rate.timesheet_rate_key,
  rate.timesheet_id,
  rate.rate_key,
  rate.pay,
  rate.emp,
  rate.margin,
  rate.charge,
  rate.uplift,
  rate.source_updated_at,
  rate.is_deleted
from (
  select timesheet_id || '|wd' as timesheet_rate_key, timesheet_id, 'wd' as rate_key,
    rate_wd_pay as pay, rate_wd_emp as emp, rate_wd_margin as margin, rate_wd_charge as charge, rate_wd_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|wdNw' as timesheet_rate_key, timesheet_id, 'wdNw' as rate_key,
    rate_wd_nw_pay as pay, rate_wd_nw_emp as emp, rate_wd_nw_margin as margin, rate_wd_nw_charge as charge, rate_wd_nw_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|weNw' as timesheet_rate_key, timesheet_id, 'weNw' as rate_key,
    rate_we_nw_pay as pay, rate_we_nw_emp as emp, rate_we_nw_margin as margin, rate_we_nw_charge as charge, rate_we_nw_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|bh' as timesheet_rate_key, timesheet_id, 'bh' as rate_key,
    rate_bh_pay as pay, rate_bh_emp as emp, rate_bh_margin as margin, rate_bh_charge as charge, rate_bh_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|bhNight' as timesheet_rate_key, timesheet_id, 'bhNight' as rate_key,
    rate_bh_night_pay as pay, rate_bh_night_emp as emp, rate_bh_night_margin as margin, rate_bh_night_charge as charge, rate_bh_night_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|sat' as timesheet_rate_key, timesheet_id, 'sat' as rate_key,
    rate_sat_pay as pay, rate_sat_emp as emp, rate_sat_margin as margin, rate_sat_charge as charge, rate_sat_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|sun' as timesheet_rate_key, timesheet_id, 'sun' as rate_key,
    rate_sun_pay as pay, rate_sun_emp as emp, rate_sun_margin as margin, rate_sun_charge as charge, rate_sun_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|ot' as timesheet_rate_key, timesheet_id, 'ot' as rate_key,
    rate_ot_pay as pay, rate_ot_emp as emp, rate_ot_margin as margin, rate_ot_charge as charge, rate_ot_uplift as uplift,
    source_updated_at, is_deleted
  from star.fact_timesheet
) as rate
where rate.pay is not null or rate.emp is not null or rate.margin is not null or rate.charge is not null
  or rate.uplift is not null;
comment on view star.fact_timesheet_rate is 'One row per timesheet and rate key that carries a rate.';
comment on column star.fact_timesheet_rate.timesheet_rate_key is 'Timesheet and key of the rate.';
comment on column star.fact_timesheet_rate.timesheet_id is 'Id of the timesheet.';
comment on column star.fact_timesheet_rate.rate_key is 'Key of the rate as the service spells it; see star.dim_hour_type.rate_key.';
comment on column star.fact_timesheet_rate.pay is 'Pay per unit.';
comment on column star.fact_timesheet_rate.emp is 'Employer cost per unit.';
comment on column star.fact_timesheet_rate.margin is 'Margin per unit.';
comment on column star.fact_timesheet_rate.charge is 'Charge per unit.';
comment on column star.fact_timesheet_rate.uplift is 'Factor of the uplift.';
comment on column star.fact_timesheet_rate.source_updated_at is 'When the timesheet last changed at the source.';
comment on column star.fact_timesheet_rate.is_deleted is 'Whether the timesheet is missing at the source.';
