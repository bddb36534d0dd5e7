-- The ledger: one row per run, resource, watermark, window, quarantined record, drifted path and lease.
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
