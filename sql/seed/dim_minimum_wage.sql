-- One row per day on which the UK minimum wage changes, and age band. Source: gov.uk/national-minimum-wage-rates, read on
-- 27 November 2026. Add the rates of next April here; the next sync or build loads the changed file.
insert into star.dim_minimum_wage (valid_from, age_band, hourly_rate)
select cast(seed.valid_from as date), seed.age_band, cast(seed.hourly_rate as numeric(18, 4))
from (
  values
    ('2021-04-01', '23 and over', 8.91),
    ('2021-04-01', '21 to 22', 8.36),
    ('2021-04-01', '18 to 20', 6.56),
    ('2021-04-01', 'under 18', 4.62),
    ('2021-04-01', 'apprentice', 4.30),
    ('2022-04-01', '23 and over', 9.50),
    ('2022-04-01', '21 to 22', 9.18),
    ('2022-04-01', '18 to 20', 6.83),
    ('2022-04-01', 'under 18', 4.81),
    ('2022-04-01', 'apprentice', 4.81),
    ('2023-04-01', '23 and over', 10.42),
    ('2023-04-01', '21 to 22', 10.18),
    ('2023-04-01', '18 to 20', 7.49),
    ('2023-04-01', 'under 18', 5.28),
    ('2023-04-01', 'apprentice', 5.28),
    ('2024-04-01', '21 and over', 11.44),
    ('2024-04-01', '18 to 20', 8.60),
    ('2024-04-01', 'under 18', 6.40),
    ('2024-04-01', 'apprentice', 6.40),
    ('2025-04-01', '21 and over', 12.21),
    ('2025-04-01', '18 to 20', 10.00),
    ('2025-04-01', 'under 18', 7.55),
    ('2025-04-01', 'apprentice', 7.55),
    ('2026-04-01', '21 and over', 12.71),
    ('2026-04-01', '18 to 20', 10.85),
    ('2026-04-01', 'under 18', 8.00),
    ('2026-04-01', 'apprentice', 8.00)
) as seed (valid_from, age_band, hourly_rate)
where not exists (
  select 1 from star.dim_minimum_wage as existing
  where existing.valid_from = cast(seed.valid_from as date) and existing.age_band = seed.age_band
);
