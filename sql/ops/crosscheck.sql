-- How the service computes its metrics, as found out by asking it, and our figures beside its own.
create table if not exists ops.metric_calibration (
  rule text primary key, rule_no bigint not null, metric text not null, state text not null, chosen text not null,
  candidates_alive text not null, evidence text not null, calls_used bigint not null, definition_id text not null,
  calibrated_at timestamptz not null, run_id text not null, contract_version text not null
);
comment on table ops.metric_calibration is 'One row per open choice of the contract about the metrics: what the service was found to do.';
comment on column ops.metric_calibration.rule is 'The choice, such as quantile or day unit.';
comment on column ops.metric_calibration.rule_no is 'Its number in the docs of metrics.';
comment on column ops.metric_calibration.metric is 'Metric that it is about.';
comment on column ops.metric_calibration.state is 'What the evidence says: found, indistinguishable or the like; untested when nothing was asked.';
comment on column ops.metric_calibration.chosen is 'The reading in force, as text.';
comment on column ops.metric_calibration.candidates_alive is 'Readings that the answers of the service leave; a JSON array.';
comment on column ops.metric_calibration.evidence is 'How well each reading fits; a JSON object.';
comment on column ops.metric_calibration.calls_used is 'Requests of the whole calibration.';
comment on column ops.metric_calibration.definition_id is 'Name of the definition that all choices together make.';
comment on column ops.metric_calibration.calibrated_at is 'When it was calibrated.';
comment on column ops.metric_calibration.run_id is 'Run that calibrated.';
comment on column ops.metric_calibration.contract_version is 'Version of the contract.';
create table if not exists ops.crosscheck (
  run_id text not null, metric text not null, group_by text not null, group_key text not null,
  group_label text not null, figure text not null, ours double precision, theirs double precision,
  difference double precision, verdict text not null, reason text, records text, definition_id text not null,
  checked_at timestamptz not null
);
comment on table ops.crosscheck is 'One row per run, metric, group and figure: ours beside that of the service.';
comment on column ops.crosscheck.run_id is 'Run that compared.';
comment on column ops.crosscheck.metric is 'Metric, such as timeToFill.';
comment on column ops.crosscheck.group_by is 'How it was grouped; all for one group.';
comment on column ops.crosscheck.group_key is 'The group, as a key.';
comment on column ops.crosscheck.group_label is 'The group, as people know it.';
comment on column ops.crosscheck.figure is 'The figure, as the service names it.';
comment on column ops.crosscheck.ours is 'Our value.';
comment on column ops.crosscheck.theirs is 'Value of the service.';
comment on column ops.crosscheck.difference is 'Ours less theirs.';
comment on column ops.crosscheck.verdict is 'equal, explained or unexplained.';
comment on column ops.crosscheck.reason is 'Why they differ, in words; null when they do not.';
comment on column ops.crosscheck.records is 'Records that the difference is about.';
comment on column ops.crosscheck.definition_id is 'Definition of the metric that ours was computed by.';
comment on column ops.crosscheck.checked_at is 'When they were compared.';
