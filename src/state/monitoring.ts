/** Defines the metrics for a monitoring system: name, help and query of each. They contain no personal data. */
import { utcDay } from '../lib/dates.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { existingTables } from './existing-tables.ts'
import { requireReadable } from './migrations.ts'

interface MonitoringFigure {
  /** Prometheus name; a counter ends with _total. */
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly help: string
  /** Columns of the query besides `value`: at most two, without the connection. */
  readonly labels: readonly string[]
  /** `$1` is the current time, `$2` the UTC day, and `$3` the epoch second one minute ago. */
  readonly select: string
}

const epoch = (column: string): string => `extract(epoch from ${column})`

/** Latest limits of each key, with the counts of processes that share it. */
const usage = `(select u.*, b.key_id, b.day, b.per_minute, b.per_day,
    b.others + b.sync + b.reconcile + b.webhook + b.operator as spent
  from (select *, row_number() over (partition by api_key_id order by observed_at desc) as place
    from ops.api_usage) as u
  left join ops.request_budget as b on b.key_id = u.api_key_id where u.place = 1) as k`

const isToday = `observed_at >= cast($2 || 'T00:00:00Z' as timestamptz)`

const dayLeft = `case
    when key_id is not null and day = cast($2 as date) then greatest(0, per_day - spent)
    when key_id is not null then per_day
    when ${isToday} then remaining_today else rate_limit_per_day end`

const minuteLeft = `greatest(0, coalesce(per_minute, rate_limit_per_minute)
    - (select coalesce(sum(requests), 0) from ops.sent where second > cast($3 as bigint)))`

const ofRuns = (column: string): string =>
  `select command, sum(${column}) as value from ops.run group by command`

const ofResources = (column: string): string =>
  `select resource, sum(coalesce(${column}, 0)) as value from ops.run_resource group by resource`

/** State of each resource in the last run that worked on it. */
const lastOfResource = `(select q.resource, q.state,
    row_number() over (partition by q.resource order by r.started_at desc) as place
  from ops.run_resource as q join ops.run as r on r.run_id = q.run_id where r.command in ('sync', 'serve')) as l`

const lastDagRuns = `(select *, row_number() over (partition by dag order by finished_at desc) as place
  from ops.dag_run) as n`

const lastChecks = `(select *, rank() over (partition by check_name order by checked_at desc) as place
  from ops.check_result) as c`

export const figures: readonly MonitoringFigure[] = [
  {
    name: 'muster_requests_total',
    kind: 'counter',
    help: 'Requests sent to the service, by command.',
    labels: ['command'],
    select: ofRuns('requests'),
  },
  {
    name: 'muster_retries_total',
    kind: 'counter',
    help: 'Retried requests, by command.',
    labels: ['command'],
    select: ofRuns('retries'),
  },
  {
    name: 'muster_runs_total',
    kind: 'counter',
    help: 'Runs that ended or died, by command and state.',
    labels: ['command', 'state'],
    select: 'select command, state, count(*) as value from ops.run group by command, state',
  },
  {
    name: 'muster_records_read_total',
    kind: 'counter',
    help: 'Records read from pages.',
    labels: ['resource'],
    select: ofResources('records_read'),
  },
  {
    name: 'muster_rows_inserted_total',
    kind: 'counter',
    help: 'Rows inserted into star.',
    labels: ['resource'],
    select: ofResources('rows_inserted'),
  },
  {
    name: 'muster_rows_changed_total',
    kind: 'counter',
    help: 'Rows of star replaced by a newer version.',
    labels: ['resource'],
    select: ofResources('rows_changed'),
  },
  {
    name: 'muster_records_touched_total',
    kind: 'counter',
    help: 'Records read with unchanged content but new bookkeeping, such as a later updatedAt.',
    labels: ['resource'],
    select: ofResources('records_touched'),
  },
  {
    name: 'muster_rows_removed_total',
    kind: 'counter',
    help: 'Rows of star removed because they were missing at the source.',
    labels: ['resource'],
    select: ofResources('rows_removed'),
  },
  {
    name: 'muster_mart_rows',
    kind: 'gauge',
    help: 'Rows of a mart.',
    labels: ['mart'],
    select: 'select name as mart, rows as value from ops.mart where built_at is not null',
  },
  {
    name: 'muster_mart_built_timestamp_seconds',
    kind: 'gauge',
    help: 'When the rows of a mart were built.',
    labels: ['mart'],
    select: `select name as mart, ${epoch('built_at')} as value from ops.mart where built_at is not null`,
  },
  {
    name: 'muster_mart_is_refused',
    kind: 'gauge',
    help: 'Whether the last build of a mart failed or was refused by a check: 1 or 0.',
    labels: ['mart'],
    select: `select name as mart, case when state = 'built' then 0 else 1 end as value from ops.mart`,
  },
  {
    name: 'muster_budget_day_limit',
    kind: 'gauge',
    help: 'Requests that the key may send in a UTC day.',
    labels: ['key'],
    select: `select api_key_id as key, coalesce(per_day, rate_limit_per_day) as value from ${usage}`,
  },
  {
    name: 'muster_budget_day_left',
    kind: 'gauge',
    help: 'Requests left in the UTC day, as last reported.',
    labels: ['key'],
    select: `select api_key_id as key, ${dayLeft} as value from ${usage}`,
  },
  {
    name: 'muster_budget_minute_limit',
    kind: 'gauge',
    help: 'Requests that the key may send in a minute.',
    labels: ['key'],
    select: `select api_key_id as key, coalesce(per_minute, rate_limit_per_minute) as value from ${usage}`,
  },
  {
    name: 'muster_budget_minute_left',
    kind: 'gauge',
    help: 'Requests left in the rolling minute.',
    labels: ['key'],
    select: `select api_key_id as key, ${minuteLeft} as value from ${usage}`,
  },
  {
    name: 'muster_last_sync_timestamp_seconds',
    kind: 'gauge',
    help: 'When the last successful sync ended.',
    labels: [],
    select: `select ${epoch('max(finished_at)')} as value from ops.run where command = 'sync' and state = 'done'`,
  },
  {
    name: 'muster_resource_read_timestamp_seconds',
    kind: 'gauge',
    help: 'When a resource was last read to its end; its freshness is the time since then.',
    labels: ['resource'],
    select: `select q.resource, ${epoch('max(coalesce(r.finished_at, r.started_at))')} as value
      from ops.run_resource as q join ops.run as r on r.run_id = q.run_id
      where q.state = 'done' and r.state <> 'running' group by q.resource`,
  },
  {
    name: 'muster_resource_is_behind',
    kind: 'gauge',
    help: 'Whether the last run left a resource failed or unread: 1 or 0.',
    labels: ['resource'],
    select: `select resource, case when state in ('failed', 'incomplete', 'stopped') then 1 else 0 end as value
      from ${lastOfResource} where place = 1`,
  },
  {
    name: 'muster_dag_run_done_timestamp_seconds',
    kind: 'gauge',
    help: 'When a DAG last ended with every task done.',
    labels: ['dag'],
    select: `select dag, ${epoch('max(finished_at)')} as value from ops.dag_run where state = 'done' group by dag`,
  },
  {
    name: 'muster_dag_run_ended_timestamp_seconds',
    kind: 'gauge',
    help: 'When a DAG last ended, by state: done, later or failed.',
    labels: ['dag', 'state'],
    select: `select dag, state, ${epoch('finished_at')} as value from ${lastDagRuns} where place = 1`,
  },
  {
    name: 'muster_quarantined_records',
    kind: 'gauge',
    help: 'Records in quarantine until a version can be loaded.',
    labels: ['resource'],
    select: `select resource, count(distinct coalesce(record_id, quarantine_id)) as value
      from ops.quarantine where resolved_at is null group by resource`,
  },
  {
    name: 'muster_check_failed_rows',
    kind: 'gauge',
    help: 'Rows that failed a check when it last ran; 0 for one that passed.',
    labels: ['check', 'severity'],
    select: `select check_name as "check", severity, sum(failed_rows) as value from ${lastChecks}
      where place = 1 group by check_name, severity`,
  },
  {
    name: 'muster_events_waiting',
    kind: 'gauge',
    help: 'Webhook events whose record has not been read yet.',
    labels: [],
    select: `select count(*) as value from ops.inbox where state in ('new', 'signalled')`,
  },
  {
    name: 'muster_events_lag_seconds',
    kind: 'gauge',
    help: 'How long the oldest webhook event has waited for a read; 0 if none waits.',
    labels: [],
    select: `select coalesce(greatest(0, ${epoch('cast($1 as timestamptz)')} - ${epoch('min(received_at)')}), 0) as value
      from ops.inbox where state in ('new', 'signalled')`,
  },
]

export interface FigureReading {
  readonly figure: MonitoringFigure
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface ReadingRow {
  readonly place: number
  readonly first: string | null
  readonly second: string | null
  readonly value: number | string | null
}

const labelOf = (name: string | undefined): string =>
  `cast(${name === undefined ? 'null' : quoteName(name)} as text)`

const statement = figures
  .map(
    ({ labels: [one, two], select }, place) =>
      `select ${place} as place, ${labelOf(one)} as first, ${labelOf(two)} as second,
         cast(value as double precision) as value from (${select}) as f${place}`,
  )
  .join('\nunion all\n')
  .concat('\norder by 1, 2, 3')

function readingOf({ place, first, second, value }: ReadingRow): FigureReading[] {
  const figure = figures[Number(place)]
  if (!figure || value === null) return []
  const texts = [first, second]
  const labels = Object.fromEntries(figure.labels.map((name, index) => [name, texts[index] ?? '']))
  return [{ figure, labels, value: Number(value) }]
}

/**
 * Reads all metrics in one statement, so a scrape costs one round trip. Undefined before the first sync and for a published
 * copy. `now` is in milliseconds since the epoch.
 */
export async function readFigures(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'>,
  now: number,
): Promise<readonly FigureReading[] | undefined> {
  const tables = await existingTables(engine)
  if (!(tables.has('migration') && tables.has('sent') && tables.has('dag_run'))) return undefined
  await requireReadable(engine)
  const rows = await engine.rows<ReadingRow>(statement, [
    new Date(now).toISOString(),
    utcDay(now),
    Math.floor(now / 1000) - 60,
  ])
  return rows.flatMap(readingOf)
}
