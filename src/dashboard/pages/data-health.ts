/** Data health: whether the other pages can be trusted. Green means yes; each red line has the command that helps. */
import {
  count,
  type DashboardPage,
  date,
  flag,
  hours,
  number,
  type Panel,
  share,
  text,
  time,
} from '../panel.ts'

const empty = 'There are no marts yet. Run muster sync, then muster build.'

/** A nightly run is good when it read every resource; 26 hours leave two for a slow run. */
const verdicts: Panel = {
  id: 'verdicts',
  title: 'Can I believe it?',
  about: 'Green means yes. Each other line says what to run.',
  mart: 'data_health',
  sql: `with health as materialized (select * from mart.data_health)
select 1 as place, 'Read by the last run' as topic,
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
  case
    when bool_or(completeness = 'incomplete') then 'bad'
    when bool_or(completeness = 'not read yet') then 'warning'
    else 'good'
  end,
  null, sum(case when completeness = 'complete' then 0 else 1 end), count(*),
  string_agg(case when completeness = 'complete' then null else resource || ' ' || completeness end, ', ' order by resource), null,
  'muster status --windows'
from health
where completeness in ('complete', 'incomplete', 'not read yet')
union all
select 3, 'Checks passed',
  case when sum(failed_error_checks) > 0 then 'bad' when sum(failed_checks) > 0 then 'warning' else 'good' end,
  null, sum(failed_checks), null,
  string_agg(case when failed_checks > 0 then resource end, ', ' order by resource), 'failed',
  'muster check'
from health
union all
select 4, 'Agrees with the service',
  case when figures = 0 then 'warning' when unexplained > 0 then 'bad' when uncovered + explained > 0 then 'warning' else 'good' end,
  checked_at,
  case when unexplained > 0 then unexplained else uncovered + explained end,
  figures,
  case when unexplained > 0 then metrics end,
  case
    when unexplained > 0 then 'unexplained'
    when uncovered = 0 then 'differ for known reasons'
    else 'differ' || case when explained > 0 then ', ' || cast(uncovered as text) || ' of them' else '' end
      || case
        when unknown_ids > 1 then ' because ' || cast(unknown_ids as text) || ' requisition ids are unknown'
        when unknown_ids = 1 then ' because 1 requisition id is unknown'
        else ' because requisition ids are unknown'
      end
  end,
  case when unexplained = 0 and uncovered > 0 then 'muster discover requisitions FILE' else 'muster crosscheck' end
from (
  select count(*) as figures, max(checked_at) as checked_at,
    coalesce(sum(case when verdict = 'unexplained' then 1 else 0 end), 0) as unexplained,
    coalesce(sum(case when verdict = 'uncovered' then 1 else 0 end), 0) as uncovered,
    coalesce(sum(case when verdict = 'explained' then 1 else 0 end), 0) as explained,
    string_agg(distinct case when verdict = 'unexplained' then metric end, ', ' order by case when verdict = 'unexplained' then metric end)
      as metrics,
    (
      select max(health.expected_rows - health.live_rows - health.refused_records)
      from health
      where health.resource = 'requisitions'
    ) as unknown_ids
  from mart.crosscheck
) as compared
union all
select 5, 'Every record loaded',
  case when bool_or(incomplete_reason like '%in quarantine%') then 'bad' when sum(quarantined_records) > 0 then 'warning' else 'good' end,
  null, sum(quarantined_records), null,
  string_agg(case when quarantined_records > 0 then resource end, ', ' order by resource), 'in quarantine',
  'muster status'
from health
union all
select 6, 'Deletions confirmed',
  case when sum(withheld_deletions) > 0 then 'bad' when sum(deletion_candidates) > 0 then 'warning' else 'good' end,
  null,
  case when sum(withheld_deletions) > 0 then sum(withheld_deletions) else sum(deletion_candidates) end,
  null,
  string_agg(case when withheld_deletions + deletion_candidates > 0 then resource end, ', ' order by resource),
  case when sum(withheld_deletions) > 0 then 'withheld' else 'waiting for evidence' end,
  'muster sweep ' || coalesce(
    min(case when withheld_deletions > 0 then resource end),
    min(case when deletion_candidates > 0 then resource end),
    ''
  )
from health
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
from health
order by place`,
  show: { kind: 'verdicts' },
  drill: { by: [], order: 'is_complete, resource' },
  empty,
  isWide: true,
}

const resources: Panel = {
  id: 'resources',
  title: 'By resource',
  about:
    'Coverage is the share of the expected rows that are stored, where the service reports how many there are.',
  mart: 'data_health',
  sql: `select health.resource,
  health.live_rows,
  health.coverage_share,
  fresh.hours_since_read,
  fresh.is_fresh,
  health.completeness,
  health.failed_checks,
  health.quarantined_records,
  health.withheld_deletions,
  health.incomplete_reason
from mart.data_health as health
join mart.freshness as fresh on fresh.resource = health.resource
order by
  case health.completeness when 'incomplete' then 0 when 'not read yet' then 1 when 'no total to compare with' then 2 else 3 end,
  fresh.is_fresh, health.resource`,
  show: {
    kind: 'table',
    figures: [
      text('resource', 'Resource'),
      count('live_rows', 'Records'),
      share('coverage_share', 'Coverage'),
      hours('hours_since_read', 'Hours since read'),
      flag('is_fresh', 'Fresh'),
      text('completeness', 'Complete'),
      count('failed_checks', 'Failed checks'),
      count('quarantined_records', 'In quarantine'),
      count('withheld_deletions', 'Deletions withheld'),
      text('incomplete_reason', 'What is missing'),
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
      { column: 'ours', label: 'Ours', unit: 'number' },
      { column: 'theirs', label: 'Theirs', unit: 'number' },
      text('verdict', 'Verdict'),
      text('reason', 'Reason'),
    ],
  },
  drill: { by: ['metric', 'group_by', 'group_key', 'figure'], order: 'figure' },
  empty: 'No difference is known. If nothing was compared yet, run muster crosscheck and muster build.',
  isWide: true,
}

const alerts: Panel = {
  id: 'alerts',
  title: 'Alerts that fire',
  about: 'Alerts of the settings, on settled weeks and months, as of the last build.',
  mart: 'alert',
  sql: `select alert_name, group_key, measured_value, condition, period_date, began_at
from mart.alert
where ended_at is null and alert_state = 'fires'
order by alert_name, group_key`,
  show: {
    kind: 'table',
    figures: [
      text('alert_name', 'Alert'),
      number('measured_value', 'Value'),
      text('group_key', 'Of'),
      text('condition', 'Condition'),
      date('period_date', 'Period'),
      time('began_at', 'Since'),
    ],
  },
  drill: { by: ['alert_name', 'group_key'], order: 'began_at desc' },
  empty: 'No alert fires. The settings name them under alerts; muster alerts lists all.',
  isWide: true,
}

export const dataHealth: DashboardPage = {
  id: 'data-health',
  title: 'Data health',
  question: 'Can I trust these numbers?',
  panels: [verdicts, alerts, resources, differences],
}
