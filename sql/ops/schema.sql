-- The ledger: one row per run, resource, watermark, window, quarantined record, drifted path and lease.
create table if not exists ops.run (
  run_id text primary key, command text not null, arguments text not null, state text not null,
  started_at timestamptz not null, finished_at timestamptz, requests bigint not null, retries bigint not null,
  records_read bigint not null, rows_inserted bigint not null, rows_changed bigint not null,
  rows_removed bigint not null, records_unchanged bigint not null, quarantined bigint not null,
  message text, program_version text not null
);
comment on table ops.run is 'One row per run of a command that writes the warehouse.';
comment on column ops.run.run_id is 'Id of the run; sorts by its start.';
comment on column ops.run.command is 'Command, such as sync.';
comment on column ops.run.arguments is 'Its arguments, without secrets.';
comment on column ops.run.state is 'running, done, failed or stopped.';
comment on column ops.run.started_at is 'When it began.';
comment on column ops.run.finished_at is 'When it ended; null while it runs, or when its process is gone.';
comment on column ops.run.requests is 'Requests sent.';
comment on column ops.run.retries is 'Of these, repetitions.';
comment on column ops.run.records_read is 'Records read from pages.';
comment on column ops.run.rows_inserted is 'Rows of star inserted.';
comment on column ops.run.rows_changed is 'Rows of star replaced by a newer version.';
comment on column ops.run.rows_removed is 'Rows of star that are gone at the source.';
comment on column ops.run.records_unchanged is 'Records read that were held already as they are.';
comment on column ops.run.quarantined is 'Records that could not be loaded.';
comment on column ops.run.message is 'Why it failed or stopped.';
comment on column ops.run.program_version is 'Version of the program.';

create table if not exists ops.run_resource (
  run_id text not null, resource text not null, state text not null, requests bigint not null,
  records_read bigint not null, rows_inserted bigint not null, rows_changed bigint not null,
  rows_removed bigint not null, records_unchanged bigint not null, quarantined bigint not null, note text,
  primary key (run_id, resource)
);
comment on table ops.run_resource is 'One row per run and resource that it worked on.';
comment on column ops.run_resource.run_id is 'The run.';
comment on column ops.run_resource.resource is 'The resource, such as timesheets.';
comment on column ops.run_resource.state is 'done, failed, skipped or stopped.';
comment on column ops.run_resource.requests is 'Requests sent.';
comment on column ops.run_resource.records_read is 'Records read from pages.';
comment on column ops.run_resource.rows_inserted is 'Rows of star inserted.';
comment on column ops.run_resource.rows_changed is 'Rows of star replaced by a newer version.';
comment on column ops.run_resource.rows_removed is 'Rows of star that are gone at the source.';
comment on column ops.run_resource.records_unchanged is 'Records read that were held already as they are.';
comment on column ops.run_resource.quarantined is 'Records that could not be loaded.';
comment on column ops.run_resource.note is 'Why it was skipped, failed or stopped.';

create table if not exists ops.watermark (
  resource text primary key, mark text, pending_mark text, earliest_day text, remembered_total bigint, backfilled_at timestamptz,
  run_id text not null, moved_at timestamptz not null
);
comment on table ops.watermark is 'One row per collection: how far it is read.';
comment on column ops.watermark.resource is 'The collection.';
comment on column ops.watermark.mark is 'Greatest updatedAt on the first page of the last complete walk, as the service wrote it.';
comment on column ops.watermark.pending_mark is 'The mark to be set when the backfill under way is complete.';
comment on column ops.watermark.earliest_day is 'Day of the oldest record, where a backfill ends.';
comment on column ops.watermark.remembered_total is 'Rows the service reported last; the next walk begins at their last page.';
comment on column ops.watermark.backfilled_at is 'When the first complete reading ended.';
comment on column ops.watermark.run_id is 'Run that moved the mark.';
comment on column ops.watermark.moved_at is 'When it was moved.';

create table if not exists ops.window (
  window_id text primary key, resource text not null, kind text not null, from_day text, to_day text, scope text,
  state text not null, attempt bigint not null, next_page bigint not null, loaded_sequence bigint not null,
  pages bigint not null, greatest_total bigint not null, distinct_ids bigint not null, first_mark text,
  run_id text not null, started_at timestamptz not null, accepted_at timestamptz
);
comment on table ops.window is 'One row per walk of a window of a resource, with what proves it complete.';
comment on column ops.window.window_id is 'Id of the walk.';
comment on column ops.window.resource is 'The resource.';
comment on column ops.window.kind is 'backfill, incremental or snapshot.';
comment on column ops.window.from_day is 'First created day asked for; null is open.';
comment on column ops.window.to_day is 'Last created day asked for, included; null is open.';
comment on column ops.window.scope is 'What a snapshot covers, such as one company.';
comment on column ops.window.state is 'walking, accepted or refused.';
comment on column ops.window.attempt is 'Which try at this window it is, from 1.';
comment on column ops.window.next_page is 'Page to ask next; 0 when page 1 is read.';
comment on column ops.window.loaded_sequence is 'Sequence number of the last page that is loaded.';
comment on column ops.window.pages is 'Pages read.';
comment on column ops.window.greatest_total is 'Greatest number of records that the service claimed while it was walked.';
comment on column ops.window.distinct_ids is 'Different ids seen; at least greatest_total in an accepted walk.';
comment on column ops.window.first_mark is 'Greatest updatedAt on the first page.';
comment on column ops.window.run_id is 'Run that began it.';
comment on column ops.window.started_at is 'When it began.';
comment on column ops.window.accepted_at is 'When it was found complete.';

create table if not exists ops.window_id (window_id text not null, record_id text not null);
comment on table ops.window_id is 'One row per id seen in a walk that is not complete yet.';
comment on column ops.window_id.window_id is 'The walk.';
comment on column ops.window_id.record_id is 'Id of the record.';

create table if not exists ops.quarantine (
  quarantine_id text primary key, resource text not null, record_id text, path text not null, text text,
  reason text not null, payload text not null, page text not null, run_id text not null,
  seen_at timestamptz not null, resolved_at timestamptz
);
comment on table ops.quarantine is 'One row per value that could not be loaded; its record waits for a version that can.';
comment on column ops.quarantine.quarantine_id is 'md5 of resource, record, path, value and reason.';
comment on column ops.quarantine.resource is 'The resource.';
comment on column ops.quarantine.record_id is 'Id of the record, when it has one.';
comment on column ops.quarantine.path is 'Where in the record.';
comment on column ops.quarantine.text is 'The value as the service wrote it.';
comment on column ops.quarantine.reason is 'Why it could not be loaded.';
comment on column ops.quarantine.payload is 'The record as JSON.';
comment on column ops.quarantine.page is 'Landed page that holds it.';
comment on column ops.quarantine.run_id is 'Run that met it first.';
comment on column ops.quarantine.seen_at is 'When it was met last.';
comment on column ops.quarantine.resolved_at is 'When a later version of the record was loaded, or a list that is read whole did not have it any more.';

create table if not exists ops.schema_drift (
  resource text not null, path text not null, kind text not null, example_type text, run_id text not null,
  seen_at timestamptz not null, primary key (resource, path, kind)
);
comment on table ops.schema_drift is 'One row per resource, path and kind of difference from what the service documents.';
comment on column ops.schema_drift.resource is 'The resource.';
comment on column ops.schema_drift.path is 'Where in the record.';
comment on column ops.schema_drift.kind is 'unknown field, unknown value or rounded.';
comment on column ops.schema_drift.example_type is 'Type of the value; never the value.';
comment on column ops.schema_drift.run_id is 'Run that met it first.';
comment on column ops.schema_drift.seen_at is 'When it was met.';

create table if not exists ops.lease (
  resource text primary key, holder text not null, epoch bigint not null, expires_at timestamptz not null
);
comment on table ops.lease is 'One row per resource that a process is writing or wrote last.';
comment on column ops.lease.resource is 'The resource.';
comment on column ops.lease.holder is 'Run that holds it.';
comment on column ops.lease.epoch is 'Number of the holding: a later one makes an earlier one void.';
comment on column ops.lease.expires_at is 'Until when it is held unless renewed.';

create table if not exists ops.access (
  resource text primary key, state text not null, reason text, checked_at timestamptz not null
);
comment on table ops.access is 'One row per resource: whether the key may read it.';
comment on column ops.access.resource is 'The resource.';
comment on column ops.access.state is 'readable, refused, or not for this kind of key.';
comment on column ops.access.reason is 'What the service said.';
comment on column ops.access.checked_at is 'When it was asked.';

create table if not exists ops.api_usage (
  run_id text not null, api_key_id text not null, requests_today bigint, remaining_today bigint, resets_at text,
  last_used_at text, observed_at timestamptz not null
);
alter table ops.api_usage add column if not exists rate_limit_per_minute bigint;
alter table ops.api_usage add column if not exists rate_limit_per_day bigint;
comment on table ops.api_usage is 'One row per look at the limits of the key.';
comment on column ops.api_usage.run_id is 'Run that asked.';
comment on column ops.api_usage.api_key_id is 'First 16 hex digits of the SHA-256 of the key.';
comment on column ops.api_usage.requests_today is 'Requests of the UTC day, as the service counts them.';
comment on column ops.api_usage.remaining_today is 'Requests left that day.';
comment on column ops.api_usage.resets_at is 'When the day ends, as the service wrote it.';
comment on column ops.api_usage.last_used_at is 'When the key was last used, as the service wrote it.';
comment on column ops.api_usage.observed_at is 'When it was asked.';
comment on column ops.api_usage.rate_limit_per_minute is 'Requests a minute.';
comment on column ops.api_usage.rate_limit_per_day is 'Requests a UTC day.';

create table if not exists ops.dag_task (
  dag_run_id text not null, dag text not null, task text not null, state text not null, started_at timestamptz,
  finished_at timestamptz, error text, primary key (dag_run_id, task)
);
comment on table ops.dag_task is 'One row per task of a run of a DAG.';
comment on column ops.dag_task.dag_run_id is 'Run of the DAG.';
comment on column ops.dag_task.dag is 'Name of the DAG.';
comment on column ops.dag_task.task is 'Name of the task.';
comment on column ops.dag_task.state is 'done, failed, skipped or later.';
comment on column ops.dag_task.started_at is 'When it began.';
comment on column ops.dag_task.finished_at is 'When it ended.';
comment on column ops.dag_task.error is 'Why it failed or was skipped.';

create table if not exists ops.migration (
  name text primary key, checksum text not null, applied_at timestamptz not null
);
comment on table ops.migration is 'One row per thing that decides the structure of the warehouse.';
comment on column ops.migration.name is 'structure or program.';
comment on column ops.migration.checksum is 'SHA-256 of the declarations and of sql/, or the version of the program.';
comment on column ops.migration.applied_at is 'When it was applied.';

create table if not exists ops.sent (second bigint primary key, requests bigint not null);
comment on table ops.sent is 'One row per second in which requests were sent: the next process keeps to the same minute.';
comment on column ops.sent.second is 'Start of the second, epoch seconds.';
comment on column ops.sent.requests is 'Requests sent in it.';

create table if not exists ops.request_budget (
  key_id text primary key, per_minute bigint not null, per_day bigint not null, next_at timestamptz not null,
  day date not null, others bigint not null, sync bigint not null, reconcile bigint not null,
  webhook bigint not null, operator bigint not null
);
comment on table ops.request_budget is 'One row per key that several processes share: the slots of its minute and the count of its day.';
comment on column ops.request_budget.key_id is 'Names the key without giving it away.';
comment on column ops.request_budget.per_minute is 'Requests a minute.';
comment on column ops.request_budget.per_day is 'Requests a UTC day.';
comment on column ops.request_budget.next_at is 'When the next slot is due.';
comment on column ops.request_budget.day is 'The UTC day that the counts are of.';
comment on column ops.request_budget.others is 'Requests of the day that were not sent by us.';
comment on column ops.request_budget.sync is 'Sent that day by syncs.';
comment on column ops.request_budget.reconcile is 'Sent that day to compare figures.';
comment on column ops.request_budget.webhook is 'Sent that day for events.';
comment on column ops.request_budget.operator is 'Sent that day by hand.';
