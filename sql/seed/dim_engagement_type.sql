-- One row per combination of rate type (how a worker is engaged) and pay type (how the rate is counted).
insert into star.dim_engagement_type (rate_type, pay_type, label)
select seed.rate_type, seed.pay_type, seed.label
from (
  values
    ('cis', 'hourly', 'CIS subcontractor, hourly'),
    ('cis', 'daily', 'CIS subcontractor, daily'),
    ('paye', 'hourly', 'PAYE employee, hourly'),
    ('paye', 'daily', 'PAYE employee, daily'),
    ('psc', 'hourly', 'Personal service company, hourly'),
    ('psc', 'daily', 'Personal service company, daily')
) as seed (rate_type, pay_type, label)
where not exists (select 1 from star.dim_engagement_type as existing where existing.rate_type = seed.rate_type and existing.pay_type = seed.pay_type);
