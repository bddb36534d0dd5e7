-- Answers of agencies that the definition counts, with the time from approval: `elapsed`. Reads definition and asked.

-- Position of the quantile p among n sorted values, counted from 0: by_ceil * (ceil(pn) - 1) + by_floor * floor(pn) +
-- by_line * (p * (n + more) + less); interpolated between two values.
method as (
  select
    listed.method, cast(listed.by_ceil as double precision) as by_ceil, cast(listed.by_floor as double precision) as by_floor,
    cast(listed.by_line as double precision) as by_line, cast(listed.more_thirds as double precision) / 3 as more,
    cast(listed.less_sixths as double precision) / 6 as less
  from (
    select 'type7' as method, 0.0 as by_ceil, 0.0 as by_floor, 1 as by_line, -3 as more_thirds, 0 as less_sixths
    union all select 'type6', 0.0, 0.0, 1, 3, -6
    union all select 'type5', 0.0, 0.0, 1, 0, -3
    union all select 'type8', 0.0, 0.0, 1, 1, -4
    union all select 'type2', 0.5, 0.5, 0, 0, 0
    union all select 'nearestRank', 1.0, 0.0, 0, 0, 0
    union all select 'floorIndex', 0.0, 1.0, 0, 0, 0
  ) as listed
),

asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.bounds, definition.min_for_rule,
    quartile.by_ceil, quartile.by_floor, quartile.by_line, quartile.more, quartile.less,
    quantile.by_ceil as value_by_ceil, quantile.by_floor as value_by_floor, quantile.by_line as value_by_line,
    quantile.more as value_more, quantile.less as value_less,
    -- Factor that rounds to the decimals; 0 leaves figures as computed.
    cast(case when definition.days_decimals is null then 0 else power(10.0, definition.days_decimals) end
      as double precision) as factor
  from definition
  cross join asked
  join method as quartile on quartile.method = definition.quantiles
  join method as quantile on quantile.method = definition.value_quantiles
),

answer as (
  select
    requisition.requisition_id, requisition.reference, requisition.status, requisition.company_id,
    requisition.project_id, party.agency_id, requisition.approved_at, party.accepted_at,
    row_number() over (
      partition by requisition.requisition_id order by party.accepted_at, party.agency_ordinal
    ) as place,
    row_number() over (
      partition by requisition.requisition_id order by party.accepted_at desc, party.agency_ordinal desc
    ) as place_from_last
  from star.fact_requisition as requisition
  join star.fact_requisition_agency as party on party.requisition_id = requisition.requisition_id
  where not requisition.is_deleted and not party.is_deleted
    and requisition.approved_at is not null and party.accepted_at is not null
),

elapsed as (
  select
    answer.requisition_id, answer.reference, answer.company_id, answer.project_id, answer.agency_id,
    answer.approved_at, answer.accepted_at, definition.choice, definition.days, definition.negative_days, definition.week_start,
    answer.accepted_at at time zone definition.zone + definition.zone_minutes * interval '1 minute' as local_at,
    cast(extract(epoch from (answer.accepted_at - answer.approved_at)) as double precision) / 86400.0 as fraction,
    :days(
      cast(answer.accepted_at at time zone 'UTC' as date), cast(answer.approved_at at time zone 'UTC' as date)
    ) as utc_days,
    :days(
      cast(answer.accepted_at at time zone 'Europe/London' as date),
      cast(answer.approved_at at time zone 'Europe/London' as date)
    ) as london_days,
    :days(
      cast(answer.accepted_at at time zone definition.zone + definition.zone_minutes * interval '1 minute' as date),
      cast(answer.approved_at at time zone definition.zone + definition.zone_minutes * interval '1 minute' as date)
    )
      as zone_days
  from answer
  cross join definition
  where position(',' || coalesce(answer.status, '') || ',' in definition.requisition_statuses) > 0
    and (definition.company_ids = '' or position(',' || answer.company_id || ',' in definition.company_ids) > 0)
    and case definition.acceptance when 'earliest' then place = 1 when 'latest' then place_from_last = 1 else true end
),
