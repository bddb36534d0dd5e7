-- Turns the rate sets of a rate into rows. A rate may be read by itself and in its trade; the last fetch counts.
drop view if exists star.fact_rate;
create view star.fact_rate as
with reading as (
  select 'rate' as read_from,
    rate_id, trade_id, company_id, region_id, sector_id, project_id, agency_id, hourly_cis_pay, hourly_cis_emp,
    hourly_cis_margin, hourly_cis_charge, hourly_cis_comparable_pay_rate, hourly_paye_pay, hourly_paye_emp,
    hourly_paye_margin, hourly_paye_charge, hourly_paye_comparable_pay_rate, hourly_psc_pay, hourly_psc_emp,
    hourly_psc_margin, hourly_psc_charge, hourly_psc_comparable_pay_rate, daily_cis_pay, daily_cis_emp,
    daily_cis_margin, daily_cis_charge, daily_paye_pay, daily_paye_emp, daily_paye_margin, daily_paye_charge,
    daily_psc_pay, daily_psc_emp, daily_psc_margin, daily_psc_charge, loaded_at, source_updated_at, is_deleted
  from star.dim_rate
  where rate_id <> '-1' and not is_inferred
  union all
  select 'trade' as read_from,
    rate_id, trade_id, company_id, region_id, sector_id, project_id, agency_id, hourly_cis_pay, hourly_cis_emp,
    hourly_cis_margin, hourly_cis_charge, hourly_cis_comparable_pay_rate, hourly_paye_pay, hourly_paye_emp,
    hourly_paye_margin, hourly_paye_charge, hourly_paye_comparable_pay_rate, hourly_psc_pay, hourly_psc_emp,
    hourly_psc_margin, hourly_psc_charge, hourly_psc_comparable_pay_rate, daily_cis_pay, daily_cis_emp,
    daily_cis_margin, daily_cis_charge, daily_paye_pay, daily_paye_emp, daily_paye_margin, daily_paye_charge,
    daily_psc_pay, daily_psc_emp, daily_psc_margin, daily_psc_charge, loaded_at, source_updated_at, is_deleted
  from star.bridge_trade_rate
  where rate_id <> '-1'
),

newest as (
  select reading.*, row_number() over (partition by rate_id order by loaded_at desc nulls last, read_from) as place
  from reading
),

rate_set as (
  select newest.*, 'cis' as rate_type, 'hourly' as basis, hourly_cis_pay as pay, hourly_cis_emp as emp,
    hourly_cis_margin as margin, hourly_cis_charge as charge, hourly_cis_comparable_pay_rate as comparable_pay_rate
  from newest
  union all
  select newest.*, 'paye' as rate_type, 'hourly' as basis, hourly_paye_pay as pay, hourly_paye_emp as emp,
    hourly_paye_margin as margin, hourly_paye_charge as charge, hourly_paye_comparable_pay_rate as comparable_pay_rate
  from newest
  union all
  select newest.*, 'psc' as rate_type, 'hourly' as basis, hourly_psc_pay as pay, hourly_psc_emp as emp,
    hourly_psc_margin as margin, hourly_psc_charge as charge, hourly_psc_comparable_pay_rate as comparable_pay_rate
  from newest
  union all
  select newest.*, 'cis' as rate_type, 'daily' as basis, daily_cis_pay as pay, daily_cis_emp as emp,
    daily_cis_margin as margin, daily_cis_charge as charge, cast(null as numeric(18, 4)) as comparable_pay_rate
  from newest
  union all
  select newest.*, 'paye' as rate_type, 'daily' as basis, daily_paye_pay as pay, daily_paye_emp as emp,
    daily_paye_margin as margin, daily_paye_charge as charge, cast(null as numeric(18, 4)) as comparable_pay_rate
  from newest
  union all
  select newest.*, 'psc' as rate_type, 'daily' as basis, daily_psc_pay as pay, daily_psc_emp as emp,
    daily_psc_margin as margin, daily_psc_charge as charge, cast(null as numeric(18, 4)) as comparable_pay_rate
  from newest
)

select
  rate_set.rate_id || '|' || rate_set.basis || '|' || rate_set.rate_type as rate_key,
  rate_set.rate_id,
  rate_set.rate_type,
  rate_set.basis,
  rate_set.trade_id,
  rate_set.company_id,
  rate_set.region_id,
  rate_set.sector_id,
  rate_set.project_id,
  rate_set.agency_id,
  rate_set.pay,
  rate_set.emp,
  rate_set.margin,
  rate_set.charge,
  rate_set.comparable_pay_rate,
  rate_set.read_from,
  rate_set.source_updated_at,
  rate_set.is_deleted
from rate_set
where rate_set.place = 1
  and (rate_set.pay is not null or rate_set.emp is not null or rate_set.margin is not null or rate_set.charge is not null
    or rate_set.comparable_pay_rate is not null);
comment on view star.fact_rate is 'One row per rate, basis and engagement type that has a rate.';
comment on column star.fact_rate.rate_key is 'Rate, basis and engagement type.';
comment on column star.fact_rate.rate_id is 'Id of the rate.';
comment on column star.fact_rate.rate_type is 'Engagement type: cis, paye or psc.';
comment on column star.fact_rate.basis is 'hourly or daily.';
comment on column star.fact_rate.trade_id is 'The trade, or ''-1'' when the record names none.';
comment on column star.fact_rate.company_id is 'The company, or ''-1'' when the record names none.';
comment on column star.fact_rate.region_id is 'The region, or ''-1'' for every region.';
comment on column star.fact_rate.sector_id is 'The sector, or ''-1'' for every sector.';
comment on column star.fact_rate.project_id is 'The project, or ''-1'' for every project.';
comment on column star.fact_rate.agency_id is 'The agency, or ''-1'' for every agency.';
comment on column star.fact_rate.pay is 'Pay an hour or a day.';
comment on column star.fact_rate.emp is 'Employer cost an hour or a day.';
comment on column star.fact_rate.margin is 'Margin an hour or a day.';
comment on column star.fact_rate.charge is 'Charge an hour or a day.';
comment on column star.fact_rate.comparable_pay_rate is 'Comparable pay rate; hourly rates only.';
comment on column star.fact_rate.read_from is 'rate when read by itself, trade when read in its trade.';
comment on column star.fact_rate.source_updated_at is 'When the record it was read from last changed at the source.';
comment on column star.fact_rate.is_deleted is 'Whether the record it was read from is missing at the source.';
