-- One row per kind of hour, with its key in each of the three vocabularies of the contract.
-- value_bucket is unique. rate_key and uplift_key are unique among rows whose mapping is documented: no rate of
-- its own is listed for Saturday and Sunday nights, so those are assumed to be paid as weekend nights.
insert into star.dim_hour_type (hour_type, label, is_overtime, is_night, is_weekend, is_bank_holiday, rate_key, value_bucket, uplift_key, mapping_confidence)
select seed.hour_type, seed.label, seed.is_overtime, seed.is_night, seed.is_weekend, seed.is_bank_holiday, seed.rate_key, seed.value_bucket, seed.uplift_key, seed.mapping_confidence
from (
  values
    ('weekday', 'Weekday', false, false, false, false, 'wd', 'wdBasic', null, 'documented'),
    ('weekday_overtime', 'Weekday overtime', true, false, false, false, 'ot', 'wdOvertime', 'wdOt', 'documented'),
    ('weekday_night', 'Weekday night', false, true, false, false, 'wdNw', 'wdNightwork', 'wdNw', 'documented'),
    ('weekend_night', 'Weekend night', false, true, true, false, 'weNw', 'weNightwork', 'weNw', 'documented'),
    ('bank_holiday', 'Bank holiday', false, false, false, true, 'bh', 'bankHoliday', 'bh', 'documented'),
    ('bank_holiday_night', 'Bank holiday night', false, true, false, true, 'bhNight', 'bankHolidayNight', 'bhNw', 'documented'),
    ('saturday', 'Saturday', false, false, true, false, 'sat', 'saturday', 'sat', 'documented'),
    ('sunday', 'Sunday', false, false, true, false, 'sun', 'sunday', 'sun', 'documented'),
    ('saturday_night', 'Saturday night', false, true, true, false, 'weNw', 'saturdayNightwork', 'weNw', 'assumed'),
    ('sunday_night', 'Sunday night', false, true, true, false, 'weNw', 'sundayNightwork', 'weNw', 'assumed')
) as seed (hour_type, label, is_overtime, is_night, is_weekend, is_bank_holiday, rate_key, value_bucket, uplift_key, mapping_confidence)
where not exists (select 1 from star.dim_hour_type as existing where existing.hour_type = seed.hour_type);
