-- Incomplete resources, whose records may be missing or whose deleted records may remain: `incomplete_resource`, one row per reason,
-- with the records seen and expected where they were counted. Leaves out resources that the key was never allowed to read.

-- The last run that read a resource completely, or tried to; no scan or sweep shows it. A run for events reads only the
-- records that the events name.
last_outcome as (
  select o.resource, o.state, o.note
  from (
    select rr.resource, rr.state, rr.note,
      row_number() over (partition by rr.resource order by r.started_at desc, r.run_id desc) as place
    from ops.run_resource as rr
    inner join ops.run as r on r.run_id = rr.run_id
    where r.command not in ('sweep', 'serve')
  ) as o
  where o.place = 1
),

-- A sync that ended or died before it reached a resource has no row for it. Another process may have read it meanwhile.
read_until as (
  select rr.resource, max(coalesce(r.finished_at, r.started_at)) as read_at
  from ops.run_resource as rr
  inner join ops.run as r on r.run_id = rr.run_id
  where r.command = 'sync'
  group by rr.resource
),

not_reached as (
  select distinct named.resource
  from (values
    -- For each resource:
    ({resource}),
  ) as named (resource)
  inner join ops.run as r on r.command = 'sync' and r.state in ('failed', 'incomplete', 'stopped')
    and (r.arguments = '' or ' ' || r.arguments || ' ' like '% ' || named.resource || ' %')
  left join read_until as u on u.resource = named.resource
  where u.read_at is null or u.read_at < r.started_at
),

list_scan as (
  select s.resource, s.kind, s.state, s.scope, s.from_day, s.to_day, s.distinct_ids, s.started_at,
    case when s.expected_ids > s.last_total then s.expected_ids else s.last_total end as expected_ids,
    row_number() over (partition by s.resource, s.kind order by s.started_at desc, s.scan_id desc) as place
  from ops.scan as s
  where s.kind in ('backfill', 'incremental')
),

list_read as (
  select l.resource, max(w.backfilled_at) as backfilled_at, max(coalesce(w.remembered_total, 0)) as total,
    sum(case when l.kind = 'backfill' and l.scope is null then l.distinct_ids else 0 end) as seen,
    sum(case when l.kind = 'backfill' and l.scope is null then l.expected_ids else 0 end) as expected,
    sum(case when l.kind = 'backfill' and l.scope is null and l.state = 'refused' then 1 else 0 end) as refused
  from (
    select resource, kind, scope, state, distinct_ids, expected_ids from list_scan
    union all
    select resource, 'none' as kind, null as scope, 'none' as state, 0 as distinct_ids, 0 as expected_ids from ops.watermark
  ) as l
  left join ops.watermark as w on w.resource = l.resource
  group by l.resource
),

last_sweep as (
  select v.resource, v.state, v.started_at, v.judged, v.missing, v.note
  from (
    select s.resource, s.state, s.started_at, s.judged, s.missing, s.note,
      row_number() over (partition by s.resource order by s.started_at desc, s.sweep_id desc) as place
    from ops.sweep as s
    where s.state <> 'sweeping'
  ) as v
  where v.place = 1
),

known_id as (
  select d.resource, count(case when d.state = 'stored' then 1 end) as seen, count(*) as expected
  from ops.discovered as d
  where d.record_id not like 'md5 %' and coalesce(d.reason, '') not like 'it is another name of %' and d.state <> 'missing'
  group by d.resource
),

reasons as (
  select l.resource, l.seen, case when l.total > l.expected then l.total else l.expected end as expected,
    case
      when l.refused = 1 then 'never read completely, a window was refused'
      when l.refused > 1 then 'never read completely, ' || cast(l.refused as text) || ' windows were refused'
      else 'never read completely'
    end as reason
  from list_read as l
  where l.backfilled_at is null
  union all
  select l.resource, l.distinct_ids as seen, l.expected_ids as expected, 'the last scan of changes was refused' as reason
  from list_scan as l
  where l.kind = 'incremental' and l.place = 1 and l.scope is null and l.state = 'refused'
  union all
  select l.resource, null as seen, null as expected, 'the last scan of changes did not reach its end' as reason
  from list_scan as l
  inner join last_outcome as o on o.resource = l.resource and o.state <> 'done'
  where l.kind = 'incremental' and l.place = 1 and l.scope is null and l.state = 'scanning'
  union all
  -- Days that were read again, until a later scan of these days, or a sweep, replaces the result; a sweep notes what is
  -- missing.
  select l.resource, l.distinct_ids as seen, l.expected_ids as expected,
    'days read again were refused, ' || coalesce(l.from_day, 'the first') || ' to ' || coalesce(l.to_day, 'today') as reason
  from list_scan as l
  where l.kind = 'backfill' and l.scope = 'asked for' and l.state = 'refused'
    and not exists (
      select 1 from list_scan as n
      where n.resource = l.resource and n.kind = 'backfill' and n.state = 'accepted' and n.started_at > l.started_at
        and coalesce(n.from_day, '0') <= coalesce(l.from_day, '0') and coalesce(n.to_day, '9') >= coalesce(l.to_day, '9')
    )
    and not exists (
      select 1 from ops.sweep as s
      where s.resource = l.resource and s.state = 'accepted' and s.started_at > l.started_at
    )
  union all
  select n.resource, null as seen, null as expected, 'not reached before the last sync ended' as reason
  from not_reached as n
  union all
  select u.resource, null as seen, null as expected,
    'records known to be missing or out of date: ' || cast(count(*) as text) as reason
  from ops.unread as u
  group by u.resource
  union all
  select v.resource, v.judged - v.missing as seen, v.judged as expected,
    'the last sweep found too many records missing to believe it' as reason
  from last_sweep as v
  where v.state = 'implausible'
  union all
  select v.resource, null as seen, null as expected, 'the last sweep was refused: ' || coalesce(v.note, 'no reason is known') as reason
  from last_sweep as v
  where v.state = 'refused'
  union all
  -- Scans show the state of a list; for snapshots and records by id, the run does.
  select o.resource, k.seen, k.expected,
    case o.state
      when 'stopped' then 'the last reading was stopped before its end'
      when 'incomplete' then 'the last reading was incomplete'
      else 'the last reading failed'
    end as reason
  from last_outcome as o
  left join known_id as k on k.resource = o.resource
  where o.state in ('failed', 'incomplete', 'stopped') and not exists (select 1 from list_read as l where l.resource = o.resource)
),

-- Limits come from the last run that recorded its settings. The records that one run quarantined are compared with what it
-- read; all unresolved ones, with the most that one run read.
tolerance as (
  select coalesce(max(t.records), 20) as records, coalesce(max(t.percent), 1.0) as percent,
    coalesce(max(t.frozen), '') as frozen
  from (
    select r.quarantine_records as records, r.quarantine_percent as percent, r.frozen,
      row_number() over (order by r.started_at desc, r.run_id desc) as place
    from ops.run as r
    where r.quarantine_records is not null
  ) as t
  where t.place = 1
),

quarantined_by_run as (
  select q.resource, q.run_id, count(distinct coalesce(q.record_id, q.payload)) as records
  from ops.quarantine as q
  where q.resolved_at is null
  group by q.resource, q.run_id
),

most_read as (
  select o.resource, max(o.records_read) as records_read
  from ops.run_resource as o
  group by o.resource
),

quarantined as (
  select q.resource, q.records, coalesce(o.records_read, 0) as records_read
  from quarantined_by_run as q
  left join ops.run_resource as o on o.run_id = q.run_id and o.resource = q.resource
  union all
  select q.resource, cast(sum(q.records) as bigint) as records, coalesce(max(m.records_read), 0) as records_read
  from quarantined_by_run as q
  left join most_read as m on m.resource = q.resource
  group by q.resource
),

-- Records that the service once returned by id and refuses now, so that their stored rows go out of date. `known` counts
-- these and the ones last returned. Where the key can list the records, the list decides.
withdrawn as (
  select d.resource, count(case when d.state = 'refused' then 1 end) as records, count(*) as known
  from ops.discovered as d
  where d.last_fetched_at is not null
    and (d.state = 'stored' or (d.state = 'refused' and d.key_scope is not null))
    and not exists (
      select 1 from ops.key_access as a
      where a.resource = d.resource and a.way = 'list' and a.state = 'readable'
    )
  group by d.resource
),

compared_records as (
  select c.kind, c.resource, c.records,
    case
      when c.base * t.percent / 100 > t.records then cast(floor(c.base * t.percent / 100) as bigint)
      else t.records
    end as tolerated
  from (
    select 'in quarantine' as kind, q.resource, q.records, q.records_read as base from quarantined as q
    union all
    select 'refused' as kind, w.resource, w.records, w.known as base from withdrawn as w
  ) as c
  cross join tolerance as t
),

excessive as (
  select c.kind, c.resource, max(c.records) as records, min(c.tolerated) as tolerated
  from compared_records as c
  where c.records > c.tolerated
  group by c.kind, c.resource
),

-- Differences from the contract that nobody has accepted, of resources whose schema must not drift.
frozen_drift as (
  select d.resource, count(*) as differences
  from ops.schema_drift as d
  inner join tolerance as t on ' ' || t.frozen || ' ' like '% ' || d.resource || ' %'
  where not exists (
    select 1 from ops.accepted_drift as a where a.resource = d.resource and a.path = d.path and a.kind = d.kind
  )
  group by d.resource
),

incomplete_resource as (
  select r.resource, r.seen, r.expected,
    r.reason || case
      when r.expected > 0 then ': saw ' || cast(cast(r.seen as bigint) as text) || ' of ' || cast(cast(r.expected as bigint) as text)
      else ''
    end as reason
  from reasons as r
  where not exists (select 1 from ops.key_access as a where a.resource = r.resource)
    or exists (
      select 1 from ops.key_access as a
      where a.resource = r.resource and a.state not in ('refused', 'not for this kind of key')
    )
  union all
  select a.resource, null as seen, null as expected, 'the key may no longer read it' as reason
  from (select distinct k.resource from ops.key_access as k where k.state = 'no longer readable') as a
  union all
  select e.resource, null as seen, null as expected,
    cast(e.records as text)
      || case e.kind when 'refused' then ' stored records are refused now, ' else ' records are in quarantine, ' end
      || cast(e.tolerated as text) || ' are tolerable' as reason
  from excessive as e
  union all
  select f.resource, null as seen, null as expected,
    'differences of its frozen schema that muster drift lists: ' || cast(f.differences as text) as reason
  from frozen_drift as f
),
