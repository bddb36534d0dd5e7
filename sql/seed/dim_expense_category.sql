-- One row per expense category of the contract; the group is ours: categories that pay for time or output are pay.
insert into star.dim_expense_category (category, category_group)
select seed.category, seed.category_group
from (
  values
    ('Accommodation', 'lodging'),
    ('Bonus', 'pay'),
    ('Driving hours', 'pay'),
    ('Flat rate hours', 'pay'),
    ('Fuel', 'travel'),
    ('Manager authorised hours', 'pay'),
    ('Mileage', 'travel'),
    ('On-call', 'pay'),
    ('Other', 'other'),
    ('Out-of-hours callout', 'pay'),
    ('Parking', 'travel'),
    ('Plant', 'plant'),
    ('Price work', 'pay'),
    ('Training hours', 'pay'),
    ('Vehicles', 'travel')
) as seed (category, category_group)
where not exists (select 1 from star.dim_expense_category as existing where existing.category = seed.category);
