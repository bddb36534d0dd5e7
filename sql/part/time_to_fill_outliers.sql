-- Answers in range, and the bounds of the outlier rule in each requested group: `acceptance`, `cell_group` and `bounded`.
-- Groups are integers, and equal days of a group are counted: as texts and lists, the answers of ten million timesheets did
-- not fit the memory of DuckDB. Reads ranged.
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

-- An acceptance before the approval may be counted, counted as 0 days, or dropped.
counted_answer as (
  select
    timed.choice, timed.requisition_id, timed.reference, timed.company_id, timed.project_id, timed.agency_id,
    timed.approved_at, timed.accepted_at, timed.month_key, timed.week_key,
    case when timed.negative_days = 'zero' then greatest(timed.days, 0) else timed.days end as days
  from timed
  where timed.negative_days <> 'dropped' or timed.days >= 0
),

-- Answers of a cell belong to the same groups. Materialized, since the numbering is arbitrary and must not change.
cell as materialized (
  select
    named.choice, named.company_id, named.project_id, named.agency_id, named.month_key, named.week_key,
    :number(choice, company_id, project_id, agency_id, month_key, week_key) as cell
  from (
    select distinct choice, company_id, project_id, agency_id, month_key, week_key from counted_answer
  ) as named
),

acceptance as (
  select
    cell.cell, answer.requisition_id, answer.reference, answer.company_id, answer.project_id, answer.agency_id,
    answer.approved_at, answer.accepted_at, answer.days
  from counted_answer as answer
  join cell on cell.choice = answer.choice and cell.company_id = answer.company_id
    and cell.project_id = answer.project_id and cell.agency_id = answer.agency_id
    and cell.month_key = answer.month_key and cell.week_key = answer.week_key
),

keyed as (
  select
    cell.cell, asking.group_by,
    case when asking.by_company then cell.company_id end as company_id,
    case when asking.by_project then cell.project_id end as project_id,
    case when asking.by_agency then cell.agency_id end as agency_id,
    case when asking.by_month then cell.month_key end as month_key,
    case when asking.by_week then cell.week_key end as week_key,
    concat_ws('|', case when asking.by_company then cell.company_id end,
      case when asking.by_project then cell.project_id end,
      case when asking.by_agency then cell.agency_id end,
      case when asking.by_month then cell.month_key end,
      case when asking.by_week then cell.week_key end) as group_key
  from cell
  join asking on asking.choice = cell.choice
),

named as materialized (
  select
    keyed.group_by, keyed.group_key, :number(keyed.group_by, keyed.group_key) as number,
    max(keyed.company_id) as company_id, max(keyed.project_id) as project_id, max(keyed.agency_id) as agency_id,
    max(keyed.month_key) as month_key, max(keyed.week_key) as week_key
  from keyed
  group by keyed.group_by, keyed.group_key
),

cell_group as materialized (
  select keyed.cell, named.number
  from keyed
  join named on named.group_by = keyed.group_by and named.group_key = keyed.group_key
),

cell_days as (
  select acceptance.cell, acceptance.days, count(*) as answers
  from acceptance
  group by acceptance.cell, acceptance.days
),

group_days as (
  select cell_group.number, cell_days.days, cast(sum(cell_days.answers) as double precision) as answers
  from cell_days
  join cell_group on cell_group.cell = cell_days.cell
  group by cell_group.number, cell_days.days
),

-- The sorted days of a group: those from up_to - answers + 1 to up_to are equal, so a quantile is looked up by its place.
placed_days as materialized (
  select
    group_days.number, group_days.days, group_days.answers,
    sum(group_days.answers) over (partition by group_days.number order by group_days.days) as up_to
  from group_days
),

sized as (
  select placed_days.number, max(placed_days.up_to) as size
  from placed_days
  group by placed_days.number
),

spotted as (
  select
    sized.number, sized.size, asking.group_by,
    asking.by_ceil * (ceil(0.25 * sized.size) - 1) + asking.by_floor * floor(0.25 * sized.size)
      + asking.by_line * (0.25 * (sized.size + asking.more) + asking.less) as q1_spot,
    asking.by_ceil * (ceil(0.75 * sized.size) - 1) + asking.by_floor * floor(0.75 * sized.size)
      + asking.by_line * (0.75 * (sized.size + asking.more) + asking.less) as q3_spot
  from sized
  join named on named.number = sized.number
  join asking on asking.group_by = named.group_by
),

quartered as (
  select
    spotted.number, spotted.size, spotted.group_by, spotted.q1_spot, spotted.q3_spot,
    min(case when p.up_to >= least(size, greatest(1, floor(q1_spot) + 1)) then p.days end) as q1_low,
    min(case when p.up_to >= least(size, greatest(1, floor(q1_spot) + 2)) then p.days end) as q1_high,
    min(case when p.up_to >= least(size, greatest(1, floor(q3_spot) + 1)) then p.days end) as q3_low,
    min(case when p.up_to >= least(size, greatest(1, floor(q3_spot) + 2)) then p.days end) as q3_high
  from spotted
  join placed_days as p on p.number = spotted.number
  group by spotted.number, spotted.size, spotted.group_by, spotted.q1_spot, spotted.q3_spot
),

quartiled as (
  select
    number, size, group_by, q1_low + (q1_spot - floor(q1_spot)) * (q1_high - q1_low) as q1,
    q3_low + (q3_spot - floor(q3_spot)) * (q3_high - q3_low) as q3
  from quartered
),

bounded as materialized (
  select
    quartiled.number, quartiled.size, quartiled.group_by, asking.bounds, asking.factor, asking.value_by_ceil,
    asking.value_by_floor, asking.value_by_line, asking.value_more, asking.value_less,
    case when size >= min_for_rule then q1 - 1.5 * (q3 - q1) end as lower_bound,
    case when size >= min_for_rule then q3 + 1.5 * (q3 - q1) end as upper_bound
  from quartiled
  join asking on asking.group_by = quartiled.group_by
),
