-- What checks found: one row per run, check and table with failing rows, and one without a table for a check that passed.
create table if not exists ops.check_result (
  run_id text not null, check_name text not null, subject text not null, severity text not null,
  failed_rows bigint not null, sample_keys text not null, checked_at timestamptz not null,
  primary key (run_id, check_name, subject)
);
comment on table ops.check_result is 'One row per run, check and table with failing rows, and one without a table for a check that passed.';
comment on column ops.check_result.run_id is 'Run that checked.';
comment on column ops.check_result.check_name is 'The check: its file in sql/check, or keys and references.';
comment on column ops.check_result.subject is 'The table that the failing rows are in; empty for a check that passed.';
comment on column ops.check_result.severity is 'error: marts that read it are not rebuilt; warn: somebody should look.';
comment on column ops.check_result.failed_rows is 'Rows that failed; 0 for a check that passed.';
comment on column ops.check_result.sample_keys is 'What identifies the first of them.';
comment on column ops.check_result.checked_at is 'When it was checked.';
