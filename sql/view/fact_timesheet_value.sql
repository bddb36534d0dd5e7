-- Turns the ten value buckets of a timesheet into rows; the total stays on the timesheet, so that sums are safe.
drop view if exists star.fact_timesheet_value;
create view star.fact_timesheet_value as
select
  bucket.timesheet_value_key,
  bucket.timesheet_id,
  bucket.value_bucket,
  bucket.pay_value,
  bucket.charge_value,
  bucket.source_updated_at,
  bucket.is_deleted
from (
  select timesheet_id || '|wdBasic' as timesheet_value_key, timesheet_id, 'wdBasic' as value_bucket,
    pay_wd_basic as pay_value, charge_wd_basic as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|wdOvertime' as timesheet_value_key, timesheet_id, 'wdOvertime' as value_bucket,
    pay_wd_overtime as pay_value, charge_wd_overtime as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|wdNightwork' as timesheet_value_key, timesheet_id, 'wdNightwork' as value_bucket,
    pay_wd_nightwork as pay_value, charge_wd_nightwork as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|weNightwork' as timesheet_value_key, timesheet_id, 'weNightwork' as value_bucket,
    pay_we_nightwork as pay_value, charge_we_nightwork as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|bankHoliday' as timesheet_value_key, timesheet_id, 'bankHoliday' as value_bucket,
    pay_bank_holiday as pay_value, charge_bank_holiday as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|bankHolidayNight' as timesheet_value_key, timesheet_id, 'bankHolidayNight' as value_bucket,
    pay_bank_holiday_night as pay_value, charge_bank_holiday_night as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|saturday' as timesheet_value_key, timesheet_id, 'saturday' as value_bucket,
    pay_saturday as pay_value, charge_saturday as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|sunday' as timesheet_value_key, timesheet_id, 'sunday' as value_bucket,
    pay_sunday as pay_value, charge_sunday as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|saturdayNightwork' as timesheet_value_key, timesheet_id, 'saturdayNightwork' as value_bucket,
    pay_saturday_nightwork as pay_value, charge_saturday_nightwork as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
  union all
  select timesheet_id || '|sundayNightwork' as timesheet_value_key, timesheet_id, 'sundayNightwork' as value_bucket,
    pay_sunday_nightwork as pay_value, charge_sunday_nightwork as charge_value,
    source_updated_at, is_deleted
  from star.fact_timesheet
) as bucket
where bucket.pay_value is not null or bucket.charge_value is not null;
comment on view star.fact_timesheet_value is 'One row per timesheet and value bucket that carries a value.';
comment on column star.fact_timesheet_value.timesheet_value_key is 'Timesheet and bucket.';
comment on column star.fact_timesheet_value.timesheet_id is 'Id of the timesheet.';
comment on column star.fact_timesheet_value.value_bucket is 'Bucket as the service spells it; see star.dim_hour_type.value_bucket.';
comment on column star.fact_timesheet_value.pay_value is 'Pay in the bucket.';
comment on column star.fact_timesheet_value.charge_value is 'Charge in the bucket.';
comment on column star.fact_timesheet_value.source_updated_at is 'When the timesheet last changed at the source.';
comment on column star.fact_timesheet_value.is_deleted is 'Whether the timesheet is missing at the source.';
