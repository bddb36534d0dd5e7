/** The tables of ops: what was asked, read, kept and spent. */

import type { DeletionLedger } from './evidence/deletion-tables.ts'
import type { CrosscheckTable, MetricCalibrationTable } from './marts/crosscheck-tables.ts'
import type { MartTable } from './marts/mart-row.ts'

/** ISO 8601 text in UTC on the way in, and on the way out. */
type Time = string
/** A 64-bit count; DuckDB and PostgreSQL hand it out as text or number, so readers call Number(). */
type Count = number

export interface RunTable {
  run_id: string
  command: string
  arguments: string
  state: 'running' | 'done' | 'failed' | 'stopped'
  started_at: Time
  finished_at: Time | null
  requests: Count
  retries: Count
  records_read: Count
  rows_inserted: Count
  rows_changed: Count
  rows_removed: Count
  records_unchanged: Count
  quarantined: Count
  message: string | null
  program_version: string
}

export interface RunResourceTable {
  run_id: string
  resource: string
  state: 'done' | 'failed' | 'skipped' | 'stopped'
  requests: Count
  records_read: Count
  rows_inserted: Count
  rows_changed: Count
  rows_removed: Count
  records_unchanged: Count
  quarantined: Count
  note: string | null
}

export interface WatermarkTable {
  resource: string
  /** Greatest updatedAt on the first page of the last complete walk, as the service wrote it. */
  mark: string | null
  /** The mark to be set when the backfill under way is complete. */
  pending_mark: string | null
  /** Day of the oldest record, where a backfill ends. */
  earliest_day: string | null
  /** Rows the service reported last; the next walk begins at their last page. */
  remembered_total: Count | null
  backfilled_at: Time | null
  run_id: string
  moved_at: Time
}

export interface WindowTable {
  window_id: string
  resource: string
  kind: 'backfill' | 'incremental' | 'snapshot' | 'hydrate'
  /** Days of the created-date filter, both included; null is open. */
  from_day: string | null
  to_day: string | null
  scope: string | null
  state: 'walking' | 'accepted' | 'refused'
  attempt: Count
  /** Page to ask next; 0 when the walk has read page 1. */
  next_page: Count
  /** Sequence number of the last page that is loaded. */
  loaded_sequence: Count
  pages: Count
  greatest_total: Count
  distinct_ids: Count
  first_mark: string | null
  run_id: string
  started_at: Time
  accepted_at: Time | null
}

export interface WindowIdTable {
  window_id: string
  record_id: string
}

export interface QuarantineTable {
  quarantine_id: string
  resource: string
  record_id: string | null
  path: string
  text: string | null
  reason: string
  payload: string
  page: string
  run_id: string
  seen_at: Time
  resolved_at: Time | null
}

export interface SchemaDriftTable {
  resource: string
  path: string
  kind: 'unknown field' | 'unknown value' | 'rounded'
  example_type: string | null
  run_id: string
  seen_at: Time
}

export interface LeaseTable {
  resource: string
  holder: string
  epoch: Count
  expires_at: Time
}

export interface AccessTable {
  resource: string
  state: 'readable' | 'refused' | 'not for this kind of key'
  reason: string | null
  checked_at: Time
}

export interface ApiUsageTable {
  run_id: string
  api_key_id: string
  rate_limit_per_minute: Count | null
  rate_limit_per_day: Count | null
  requests_today: Count | null
  remaining_today: Count | null
  resets_at: string | null
  last_used_at: string | null
  observed_at: Time
}

export interface DagTaskTable {
  dag_run_id: string
  dag: string
  task: string
  state: 'done' | 'failed' | 'skipped' | 'later'
  started_at: Time | null
  finished_at: Time | null
  error: string | null
}

/** An id of a record that can be read one by one only. */
export interface DiscoveredTable {
  /** Plural name of the resource, as in the catalogue. */
  resource: string
  record_id: string
  /** What named it first: `star.fact_timesheet.assignment_id`, `event trade_created`, the name of a file. */
  source: string
  first_seen_at: Time
  /**
   * `held`: star has it as it was at `last_fetched_at`. `missing`: the last read answered 404. `refused`: the last read
   * answered 403 or another refusal, or the text is no id that may be asked for.
   */
  state: 'unseen' | 'held' | 'missing' | 'refused'
  state_since: Time
  /** Why it is missing or refused, in words; null otherwise. */
  reason: string | null
  /** What the key could reach when the record was missing or refused; another key or scope asks again. */
  key_scope: string | null
  /** When the service last answered about it, whatever it said. */
  checked_at: Time | null
  /** When star's version was fetched. */
  last_fetched_at: Time | null
  /** Run that fetched it last, also when nothing had changed; null for one that came with another record. */
  fetched_by: string | null
  /** A missing or refused record is asked for again from then on; null asks only when the scope of the key changes. */
  retry_after: Time | null
  /** Answers that brought the record. One that is held without any came with another record. */
  fetches: Count
  /** Answers in a row that did not bring it. */
  misses: Count
  /** Fetches that found a change, and the days over which that could be seen: what its rate of change is taken from. */
  changes: number
  exposure_days: number
  /** Events since the last fetch began. */
  signals: Count
  signalled_at: Time | null
}

export interface MigrationTable {
  name: string
  checksum: string
  applied_at: Time
}

export interface CheckResultTable {
  run_id: string
  check_name: string
  /** The table with the rows, with its schema; empty for a check that passed. */
  subject: string
  severity: 'error' | 'warn'
  failed_rows: Count
  /** What names a few of the rows, joined by '; '. */
  sample_keys: string
  checked_at: Time
}

export interface SentTable {
  /** Start of a second, epoch seconds, and how many requests went out in it. */
  second: Count
  requests: Count
}

export interface PauseTable {
  key_id: string
  paused_until: Time
}

export interface Ledger extends DeletionLedger {
  'ops.run': RunTable
  'ops.run_resource': RunResourceTable
  'ops.watermark': WatermarkTable
  'ops.window': WindowTable
  'ops.window_id': WindowIdTable
  'ops.quarantine': QuarantineTable
  'ops.schema_drift': SchemaDriftTable
  'ops.lease': LeaseTable
  'ops.access': AccessTable
  'ops.api_usage': ApiUsageTable
  'ops.dag_task': DagTaskTable
  'ops.discovered': DiscoveredTable
  'ops.mart': MartTable
  'ops.migration': MigrationTable
  'ops.sent': SentTable
  'ops.check_result': CheckResultTable
  'ops.pause': PauseTable
  'ops.metric_calibration': MetricCalibrationTable
  'ops.crosscheck': CrosscheckTable
}
