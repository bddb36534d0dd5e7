-- Answers in range, in each requested group, with the result of the outlier rule: `judged`. Reads ranged.
timed as (
  select
    ranged.choice, ranged.negative_days, ranged.requisition_id, ranged.reference, ranged.company_id, ranged.project_id, ranged.agency_id,
    ranged.approved_at, ranged.accepted_at,
    case ranged.days
      when 'floor' then floor(ranged.fraction)
      when 'ceil' then ceil(ranged.fraction)
      when 'round' then floor(ranged.fraction + 0.5)
      when 'calendarUtc' then cast(ranged.utc_days as double precision)
      when 'calendarLondon' then cast(ranged.london_days as double precision)
      when 'calendarZone' then cast(ranged.zone_days as double precision)
      else ranged.fraction
    end as days,
    substr(cast(cast(ranged.local_at as date) as text), 1, 7) as month_key,
    cast(
      cast(ranged.local_at as date) - cast(mod(
        cast(extract(isodow from ranged.local_at) as integer)
          + case ranged.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) as week_key
  from ranged
),

-- An acceptance before the approval.
acceptance as (
  select
    timed.choice, timed.requisition_id, timed.reference, timed.company_id, timed.project_id, timed.agency_id,
    timed.approved_at, timed.accepted_at, timed.month_key, timed.week_key,
    case when timed.negative_days = 'zero' then greatest(timed.days, 0) else timed.days end as days
  from timed
  where timed.negative_days <> 'dropped' or timed.days >= 0
),

member as (
  select
    asking.group_by, acceptance.requisition_id, acceptance.reference, acceptance.agency_id as answered_by,
    acceptance.approved_at, acceptance.accepted_at, acceptance.days,
    case when asking.by_company then acceptance.company_id end as company_id,
    case when asking.by_project then acceptance.project_id end as project_id,
    case when asking.by_agency then acceptance.agency_id end as agency_id,
    case when asking.by_month then acceptance.month_key end as month_key,
    case when asking.by_week then acceptance.week_key end as week_key,
    concat_ws('|', case when asking.by_company then acceptance.company_id end,
      case when asking.by_project then acceptance.project_id end,
      case when asking.by_agency then acceptance.agency_id end,
      case when asking.by_month then acceptance.month_key end,
      case when asking.by_week then acceptance.week_key end) as group_key
  from acceptance
  join asking on asking.choice = acceptance.choice
),

-- The days of a group as one sorted list: a quantile is then looked up by its place.
listed as (
  select
    member.group_by, member.group_key, max(member.company_id) as company_id, max(member.project_id) as project_id,
    max(member.agency_id) as agency_id, max(member.month_key) as month_key, max(member.week_key) as week_key,
    cast(count(*) as double precision) as size, array_agg(member.days order by member.days) as days
  from member
  group by member.group_by, member.group_key
),

spotted as (
  select
    listed.*, asking.bounds, asking.least_for_rule, asking.factor, asking.value_by_ceil, asking.value_by_floor,
    asking.value_by_line, asking.value_more, asking.value_less,
    asking.by_ceil * (ceil(0.25 * listed.size) - 1) + asking.by_floor * floor(0.25 * listed.size)
      + asking.by_line * (0.25 * (listed.size + asking.more) + asking.less) as q1_spot,
    asking.by_ceil * (ceil(0.75 * listed.size) - 1) + asking.by_floor * floor(0.75 * listed.size)
      + asking.by_line * (0.75 * (listed.size + asking.more) + asking.less) as q3_spot
  from listed
  join asking on asking.group_by = listed.group_by
),

-- Once for each group, not for each answer of it: reading an array of 50,000 for each of them took PostgreSQL minutes.
quartiled as materialized (
  select
    spotted.*,
    days[cast(least(size, greatest(1, floor(q1_spot) + 1)) as integer)] + (q1_spot - floor(q1_spot)) * (
      days[cast(least(size, greatest(1, floor(q1_spot) + 2)) as integer)]
      - days[cast(least(size, greatest(1, floor(q1_spot) + 1)) as integer)]) as q1,
    days[cast(least(size, greatest(1, floor(q3_spot) + 1)) as integer)] + (q3_spot - floor(q3_spot)) * (
      days[cast(least(size, greatest(1, floor(q3_spot) + 2)) as integer)]
      - days[cast(least(size, greatest(1, floor(q3_spot) + 1)) as integer)]) as q3
  from spotted
),

bounded as (
  select
    quartiled.*,
    case when size >= least_for_rule then q1 - 1.5 * (q3 - q1) end as lower_bound,
    case when size >= least_for_rule then q3 + 1.5 * (q3 - q1) end as upper_bound
  from quartiled
),

judged as (
  select
    member.*,
    bounded.lower_bound is null
      or (member.days > bounded.lower_bound and member.days < bounded.upper_bound)
      or (bounded.bounds = 'inclusive' and member.days in (bounded.lower_bound, bounded.upper_bound)) as is_kept,
    bounded.lower_bound is not null and (member.days < bounded.lower_bound
      or (bounded.bounds = 'exclusive' and member.days = bounded.lower_bound)) as is_below
  from member
  join bounded on bounded.group_by = member.group_by and bounded.group_key = member.group_key
),
