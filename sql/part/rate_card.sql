-- Rate cards that fit each assignment; `wider` is greater for a less specific card: project and agency, then project, then
-- agency, then general, and among equals one that names region and sector first.
rate_card as (
  select
    a.assignment_id,
    a.pay_type,
    r.rate_id,
    r.pay,
    r.charge,
    r.comparable_pay_rate,
    r.source_updated_at,
    case
      when r.project_id <> '-1' and r.agency_id <> '-1' then 'project and agency'
      when r.project_id <> '-1' then 'project'
      when r.agency_id <> '-1' then 'agency'
      else 'general'
    end as reach,
    case when r.project_id <> '-1' then 0 else 6 end + case when r.agency_id <> '-1' then 0 else 3 end
      + case when r.region_id <> '-1' then 0 else 1 end + case when r.sector_id <> '-1' then 0 else 1 end as wider
  from star.fact_assignment as a
  inner join star.fact_rate as r
    on r.trade_id = a.trade_id and r.rate_type = a.rate_type and r.basis = a.pay_type
      and r.company_id in (a.company_id, '-1') and r.project_id in (a.project_id, '-1')
      and r.agency_id in (a.agency_id, '-1') and r.region_id in (a.region_id, '-1')
      and r.sector_id in (a.sector_id, '-1')
  where not r.is_deleted and a.trade_id <> '-1'
),
