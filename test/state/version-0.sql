create table if not exists ops.run (
  run_id text primary key, command text not null, arguments text not null, state text not null,
  started_at timestamptz not null, finished_at timestamptz, requests bigint not null, retries bigint not null,
  records_read bigint not null, rows_inserted bigint not null, rows_changed bigint not null,
  rows_removed bigint not null, records_unchanged bigint not null, quarantined bigint not null,
  message text, program_version text not null
);

create table if not exists ops.run_resource (
  run_id text not null, resource text not null, state text not null, requests bigint not null,
  records_read bigint not null, rows_inserted bigint not null, rows_changed bigint not null,
  rows_removed bigint not null, records_unchanged bigint not null, quarantined bigint not null, note text,
  primary key (run_id, resource)
);

create table if not exists ops.watermark (
  resource text primary key, mark text, pending_mark text, earliest_day text, remembered_total bigint, backfilled_at timestamptz,
  run_id text not null, moved_at timestamptz not null
);

create table if not exists ops.window (
  window_id text primary key, resource text not null, kind text not null, from_day text, to_day text, scope text,
  state text not null, attempt bigint not null, next_page bigint not null, loaded_sequence bigint not null,
  pages bigint not null, greatest_total bigint not null, distinct_ids bigint not null, first_mark text,
  run_id text not null, started_at timestamptz not null, accepted_at timestamptz
);

create table if not exists ops.window_id (window_id text not null, record_id text not null);

create table if not exists ops.quarantine (
  quarantine_id text primary key, resource text not null, record_id text, path text not null, text text,
  reason text not null, payload text not null, page text not null, run_id text not null,
  seen_at timestamptz not null, resolved_at timestamptz
);

create table if not exists ops.schema_drift (
  resource text not null, path text not null, kind text not null, example_type text, run_id text not null,
  seen_at timestamptz not null, primary key (resource, path, kind)
);

create table if not exists ops.lease (
  resource text primary key, holder text not null, epoch bigint not null, expires_at timestamptz not null
);

create table if not exists ops.access (
  resource text primary key, state text not null, reason text, checked_at timestamptz not null
);

create table if not exists ops.api_usage (
  run_id text not null, api_key_id text not null, requests_today bigint, remaining_today bigint, resets_at text,
  last_used_at text, observed_at timestamptz not null
);
alter table ops.api_usage add column if not exists rate_limit_per_minute bigint;
alter table ops.api_usage add column if not exists rate_limit_per_day bigint;

create table if not exists ops.dag_task (
  dag_run_id text not null, dag text not null, task text not null, state text not null, started_at timestamptz,
  finished_at timestamptz, error text, primary key (dag_run_id, task)
);

create table if not exists ops.migration (
  name text primary key, checksum text not null, applied_at timestamptz not null
);

create table if not exists ops.sent (second bigint primary key, requests bigint not null);

create table if not exists ops.request_budget (
  key_id text primary key, per_minute bigint not null, per_day bigint not null, next_at timestamptz not null,
  day date not null, others bigint not null, sync bigint not null, reconcile bigint not null,
  webhook bigint not null, operator bigint not null
);
create table if not exists ops.check_result (
  run_id text not null, check_name text not null, subject text not null, severity text not null,
  failed_rows bigint not null, sample_keys text not null, checked_at timestamptz not null,
  primary key (run_id, check_name, subject)
);
create table if not exists ops.metric_calibration (
  rule text primary key, rule_no bigint not null, metric text not null, state text not null, chosen text not null,
  candidates_alive text not null, evidence text not null, calls_used bigint not null, definition_id text not null,
  calibrated_at timestamptz not null, run_id text not null, contract_version text not null
);
create table if not exists ops.crosscheck (
  run_id text not null, metric text not null, group_by text not null, group_key text not null,
  group_label text not null, figure text not null, ours double precision, theirs double precision,
  difference double precision, verdict text not null, reason text, records text, definition_id text not null,
  checked_at timestamptz not null
);
create table if not exists ops.key_scope (
  run_id text primary key, scope_id text not null, api_key_id text not null, kind text not null,
  companies text not null, agencies text not null, scopes text not null, observed_at timestamptz not null
);
create table if not exists ops.witness (
  resource text not null, record_id text not null, kind text not null, source text not null,
  seen_at timestamptz not null, void_at timestamptz, void_reason text,
  primary key (resource, record_id, kind, source)
);
create table if not exists ops.deletion (
  resource text not null, record_id text not null, tombstoned_at timestamptz not null, run_id text not null,
  deleted_at timestamptz not null, witnesses text not null, undeleted_at timestamptz, undeleted_by text,
  primary key (resource, record_id, tombstoned_at)
);
create table if not exists ops.sweep (
  sweep_id text primary key, resource text not null, scope_id text not null, state text not null,
  started_at timestamptz not null, ended_at timestamptz, earliest_day text, run_id text not null, total bigint not null,
  seen bigint not null, judged bigint not null, missing bigint not null, note text
);
create table if not exists ops.sweep_window (
  sweep_id text not null, number bigint not null, from_day text, to_day text, state text not null,
  attempt bigint not null, next_page bigint not null, pages bigint not null, greatest_total bigint not null,
  first_total bigint not null, last_total bigint not null, distinct_ids bigint not null,
  primary key (sweep_id, number)
);
create table if not exists ops.sweep_id (
  sweep_id text not null, number bigint not null, record_id text not null, created_at text, updated_at text
);
create table if not exists ops.out_of_sight (
  resource text not null, record_id text not null, scope_id text not null, since timestamptz not null,
  primary key (resource, record_id, scope_id)
);
create table if not exists ops.unread (
  resource text not null, record_id text not null, created_at text, updated_at text,
  noted_at timestamptz not null, primary key (resource, record_id)
);
create table if not exists ops.list_count (
  resource text not null, run_id text not null, scope_id text not null, total bigint not null,
  held bigint not null, counted_at timestamptz not null, primary key (resource, run_id)
);
create table if not exists ops.discovered (
  resource text not null, record_id text not null, source text not null, first_seen_at timestamptz not null,
  state text not null, state_since timestamptz not null, reason text, key_scope text,
  checked_at timestamptz, last_fetched_at timestamptz, retry_after timestamptz,
  fetches bigint not null, misses bigint not null, changes double precision not null, exposure_days double precision not null,
  signals bigint not null, signalled_at timestamptz,
  primary key (resource, record_id)
);
alter table ops.discovered alter column changes type double precision;
alter table ops.discovered add column if not exists fetched_by text;
create table if not exists ops.hint (
  resource text not null, hint text not null, kind text not null, told double precision not null,
  unchanged double precision not null, unchanged_expected double precision not null,
  quiet_changes double precision not null, quiet_expected double precision not null, updated_at timestamptz not null,
  primary key (resource, hint, kind)
);
create table if not exists ops.inbox (
  event_id text primary key, type text not null, entity text, record_id text, created_at timestamptz,
  received_at timestamptz not null, deliveries bigint not null, state text not null, payload text,
  drained_by text, drained_at timestamptz, result text, settled_at timestamptz
);
create table if not exists ops.refused_delivery (
  day date not null, reason text not null, deliveries bigint not null, primary key (day, reason)
);
create table if not exists star.fact_webhook_event (
  event_id text not null, type text not null, entity text, record_id text, created_at timestamptz,
  received_at timestamptz not null, delivered_count bigint not null, signature_ok boolean not null,
  state text not null, fetch_result text, fetched_at timestamptz, loaded_at timestamptz not null
);
create table if not exists ops.mart (
  name text primary key, definition_id text not null, shape text not null, sources text not null,
  state text not null, built_at timestamptz, as_of timestamptz, rows bigint, milliseconds bigint,
  tried_at timestamptz not null, message text, run_id text not null
);
create table if not exists ops.pause (key_id text primary key, paused_until timestamptz not null);
