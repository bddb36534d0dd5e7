-- How the service computes its metrics, as found out by asking it, and our figures beside its own.
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
