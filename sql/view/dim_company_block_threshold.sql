-- Weekly thresholds of enhanced uplifts, which the service keys by uplift block: one setting for each block.
drop view if exists star.dim_company_block_threshold;
create view star.dim_company_block_threshold as
select
  leaf.company_id || '|' || leaf.uplift_block as company_block_threshold_key,
  leaf.company_id,
  leaf.uplift_block,
  leaf.threshold,
  leaf.source_updated_at,
  leaf.is_deleted
from (
  select
    company_id,
    substr(setting_path, length('enhancedUplifts.weekly.blockThresholds.') + 1) as uplift_block,
    value_number as threshold,
    source_updated_at,
    is_deleted
  from star.dim_company_setting
  where setting_path like 'enhancedUplifts.weekly.blockThresholds.%'
) as leaf;
comment on view star.dim_company_block_threshold is 'One row per company and uplift block with a weekly threshold of its own.';
comment on column star.dim_company_block_threshold.company_block_threshold_key is 'Company and block.';
comment on column star.dim_company_block_threshold.company_id is 'Id of the company.';
comment on column star.dim_company_block_threshold.uplift_block is 'Index of the uplift block, as the service writes it.';
comment on column star.dim_company_block_threshold.threshold is 'Weekly hours from which the block applies.';
comment on column star.dim_company_block_threshold.source_updated_at is 'When the company last changed at the source.';
comment on column star.dim_company_block_threshold.is_deleted is 'Whether the setting is missing at the source.';
