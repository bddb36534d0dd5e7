-- What checks found: one row per run, check and table with failing rows, and one without a table for a check that passed.
create table if not exists ops.check_result (
  run_id text not null, check_name text not null, subject text not null, severity text not null,
  failed_rows bigint not null, sample_keys text not null, checked_at timestamptz not null,
  primary key (run_id, check_name, subject)
);
