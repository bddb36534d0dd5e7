/** Today: whether to believe the other pages. Green means yes; each red has the command that helps. */
import { count, flag, hours, type Page, type Panel, share, text } from '../panel.ts'

const empty = 'There are no marts yet. Run muster sync, then muster build.'

/** A night is good when every resource was read; 26 hours leave two for a slow one. */
const verdicts: Panel = {
  id: 'verdicts',
  title: 'Can I believe it?',
  about: 'Green means yes. Each other line says what to run.',
  mart: 'data_health',
  sql: `select 1 as place, 'Read last night' as topic,
  case when bool_and(is_fresh) then 'good' when bool_or(is_fresh) then 'warning' else 'bad' end as state,
  max(last_read_at) as happened_at,
  sum(case when is_fresh then 0 else 1 end) as wrong,
  count(*) as of_all,
  string_agg(case when is_fresh then null else resource end, ', ' order by resource) as names,
  null as noun,
  'muster sync' as command
from mart.freshness
union all
select 2, 'Proved complete',
  case when bool_or(not is_whole) then 'bad' when bool_or(is_whole is null) then 'warning' else 'good' end,
  null, sum(case when is_whole then 0 else 1 end), count(*),
  string_agg(case when is_whole then null else resource end, ', ' order by resource), null,
  'muster status --windows'
from mart.data_health
union all
select 3, 'Checks passed',
  case when sum(failed_error_checks) > 0 then 'bad' when sum(failed_checks) > 0 then 'warning' else 'good' end,
  null, sum(failed_checks), null,
  string_agg(case when failed_checks > 0 then resource end, ', ' order by resource), 'failed',
  'muster check'
from mart.data_health
union all
select 4, 'Agrees with the service',
  case when count(*) = 0 then 'warning' when sum(case when verdict = 'unexplained' then 1 else 0 end) > 0 then 'bad' else 'good' end,
  max(checked_at), sum(case when verdict = 'unexplained' then 1 else 0 end), count(*),
  string_agg(distinct case when verdict = 'unexplained' then metric end, ', ' order by case when verdict = 'unexplained' then metric end),
  'unexplained', 'muster crosscheck'
from mart.crosscheck
union all
select 5, 'Every record loaded',
  case when bool_or(not_whole_reason like '%in quarantine%') then 'bad' when sum(quarantined_records) > 0 then 'warning' else 'good' end,
  null, sum(quarantined_records), null,
  string_agg(case when quarantined_records > 0 then resource end, ', ' order by resource), 'in quarantine',
  'muster status'
from mart.data_health
union all
select 6, 'Deletions believed',
  case when sum(held_back_deletions) > 0 then 'bad' when sum(deletion_candidates) > 0 then 'warning' else 'good' end,
  null,
  case when sum(held_back_deletions) > 0 then sum(held_back_deletions) else sum(deletion_candidates) end,
  null,
  string_agg(case when held_back_deletions + deletion_candidates > 0 then resource end, ', ' order by resource),
  case when sum(held_back_deletions) > 0 then 'held back' else 'waiting for evidence' end,
  'muster sweep ' || coalesce(
    min(case when held_back_deletions > 0 then resource end),
    min(case when deletion_candidates > 0 then resource end),
    ''
  )
from mart.data_health
union all
select 7, 'Requests left',
  case
    when bool_or(is_past) then 'good'
    when max(left_today) is null then 'warning'
    when max(left_today) * 100 < max(a_day) then 'bad'
    when max(left_today) * 10 < max(a_day) then 'warning'
    else 'good'
  end,
  max(observed_at),
  max(case when is_past then a_day else left_today end), max(a_day), null, 'left of the day', 'muster plan'
from (
  select observed_at, remaining_today as left_today, rate_limit_per_day as a_day,
    cast(observed_at at time zone 'UTC' as date) < cast(now() at time zone 'UTC' as date) as is_past
  from mart.request_budget
  order by observed_at desc, api_key_id
  limit 1
) as latest
union all
select 8, 'Built since it was read',
  case when max(loaded_at) >= max(last_read_at) then 'good' when max(last_read_at) is null then 'warning' else 'bad' end,
  max(loaded_at), null, null, null, null, 'muster build'
from mart.data_health
order by place`,
  show: { kind: 'verdicts' },
  drill: { by: [], order: 'is_whole, resource' },
  empty,
  isWide: true,
}

const resources: Panel = {
  id: 'resources',
  title: 'By resource',
  about: 'Coverage is what is stored of what there should be, where the service says how much that is.',
  mart: 'data_health',
  sql: `select health.resource,
  health.live_rows,
  health.coverage_share,
  fresh.hours_since_read,
  fresh.is_fresh,
  health.is_whole,
  health.failed_checks,
  health.quarantined_records,
  health.held_back_deletions,
  health.not_whole_reason
from mart.data_health as health
join mart.freshness as fresh on fresh.resource = health.resource
order by coalesce(health.is_whole, false), fresh.is_fresh, health.resource`,
  show: {
    kind: 'table',
    figures: [
      text('resource', 'Resource'),
      count('live_rows', 'Records'),
      share('coverage_share', 'Coverage'),
      hours('hours_since_read', 'Hours since read'),
      flag('is_fresh', 'Fresh'),
      flag('is_whole', 'Complete'),
      count('failed_checks', 'Failed checks'),
      count('quarantined_records', 'In quarantine'),
      count('held_back_deletions', 'Deletions held back'),
      text('not_whole_reason', 'What is missing'),
    ],
  },
  drill: { by: ['resource'], order: 'resource' },
  empty,
  isWide: true,
}

const differences: Panel = {
  id: 'differences',
  title: 'Figures that differ from the service’s',
  about: 'Differences without a known reason first.',
  mart: 'crosscheck',
  sql: `select metric, group_by, group_key, figure, group_label, ours, theirs, difference, verdict, reason
from mart.crosscheck
where verdict <> 'equal'
order by case verdict when 'unexplained' then 0 else 1 end, metric, group_by, group_key, figure
limit 50`,
  show: {
    kind: 'table',
    figures: [
      text('metric', 'Metric'),
      text('group_label', 'Group'),
      text('figure', 'Figure'),
      { column: 'ours', label: 'Ours', unit: 'rate' },
      { column: 'theirs', label: 'Theirs', unit: 'rate' },
      text('verdict', 'Verdict'),
      text('reason', 'Reason'),
    ],
  },
  drill: { by: ['metric', 'group_by', 'group_key', 'figure'], order: 'figure' },
  empty: 'No difference is known. If nothing was compared yet, run muster crosscheck and muster build.',
  isWide: true,
}

export const today: Page = {
  id: 'today',
  title: 'Today',
  question: 'Can I believe these numbers?',
  panels: [verdicts, resources, differences],
}
