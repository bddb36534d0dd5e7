-- What is gone at the service: who saw it missing, which rows were tombstoned for it, and what a key could see meanwhile.
create table if not exists ops.key_scope (
  run_id text primary key, scope_id text not null, api_key_id text not null, kind text not null,
  companies text not null, agencies text not null, scopes text not null, observed_at timestamptz not null
);
comment on table ops.key_scope is 'One row per run: what its key could see.';
comment on column ops.key_scope.run_id is 'The run.';
comment on column ops.key_scope.scope_id is 'Equal for equal keys with equal lists.';
comment on column ops.key_scope.api_key_id is 'First 16 hex digits of the SHA-256 of the key.';
comment on column ops.key_scope.kind is 'company or agency.';
comment on column ops.key_scope.companies is 'Ids of companies, sorted; a JSON array.';
comment on column ops.key_scope.agencies is 'Ids of agencies, sorted; a JSON array.';
comment on column ops.key_scope.scopes is 'Names of permissions, sorted; a JSON array.';
comment on column ops.key_scope.observed_at is 'When the service told it.';
create table if not exists ops.witness (
  resource text not null, record_id text not null, kind text not null, source text not null,
  seen_at timestamptz not null, void_at timestamptz, void_reason text,
  primary key (resource, record_id, kind, source)
);
comment on table ops.witness is 'One row per record and observation that it is gone.';
comment on column ops.witness.resource is 'The resource.';
comment on column ops.witness.record_id is 'Id of the record.';
comment on column ops.witness.kind is 'sweep: a list read whole without it; by-id 404: the service knows no such record; event: the service said so.';
comment on column ops.witness.source is 'Run that saw it, or event that said it.';
comment on column ops.witness.seen_at is 'The record was gone at this time or before.';
comment on column ops.witness.void_at is 'When it was seen again; null while the observation counts.';
comment on column ops.witness.void_reason is 'How it was seen again.';
create table if not exists ops.deletion (
  resource text not null, record_id text not null, tombstoned_at timestamptz not null, run_id text not null,
  deleted_at timestamptz not null, witnesses text not null, undeleted_at timestamptz, undeleted_by text,
  primary key (resource, record_id, tombstoned_at)
);
comment on table ops.deletion is 'One row per record and time that it was marked as deleted.';
comment on column ops.deletion.resource is 'The resource.';
comment on column ops.deletion.record_id is 'Id of the record.';
comment on column ops.deletion.tombstoned_at is 'When its rows were marked.';
comment on column ops.deletion.run_id is 'Run that marked them.';
comment on column ops.deletion.deleted_at is 'Time of the latest of its witnesses.';
comment on column ops.deletion.witnesses is 'Kind, source and time of each; a JSON array.';
comment on column ops.deletion.undeleted_at is 'When it came back; null while it is gone.';
comment on column ops.deletion.undeleted_by is 'Run that saw it again.';
create table if not exists ops.sweep (
  sweep_id text primary key, resource text not null, scope_id text not null, state text not null,
  started_at timestamptz not null, ended_at timestamptz, earliest_day text, run_id text not null, total bigint not null,
  seen bigint not null, judged bigint not null, missing bigint not null, note text
);
comment on table ops.sweep is 'One row per sweep of a list.';
comment on column ops.sweep.sweep_id is 'Id of the sweep.';
comment on column ops.sweep.resource is 'The resource.';
comment on column ops.sweep.scope_id is 'What the key could see; see ops.key_scope.';
comment on column ops.sweep.state is 'sweeping, accepted, doubted (too much was missing to believe it) or refused.';
comment on column ops.sweep.started_at is 'When it began.';
comment on column ops.sweep.ended_at is 'When it ended; null while it goes on.';
comment on column ops.sweep.earliest_day is 'Day of the oldest record, where its windows end.';
comment on column ops.sweep.run_id is 'Run that began it.';
comment on column ops.sweep.total is 'Rows the service claimed.';
comment on column ops.sweep.seen is 'Different ids seen.';
comment on column ops.sweep.judged is 'Live rows that should have been seen.';
comment on column ops.sweep.missing is 'Of these, rows that were not.';
comment on column ops.sweep.note is 'Why it was doubted or refused.';
create table if not exists ops.sweep_window (
  sweep_id text not null, number bigint not null, from_day text, to_day text, state text not null,
  attempt bigint not null, next_page bigint not null, pages bigint not null, greatest_total bigint not null,
  first_total bigint not null, last_total bigint not null, distinct_ids bigint not null,
  primary key (sweep_id, number)
);
comment on table ops.sweep_window is 'One row per window of a sweep.';
comment on column ops.sweep_window.sweep_id is 'The sweep.';
comment on column ops.sweep_window.number is 'Number of the window, from 1.';
comment on column ops.sweep_window.from_day is 'First created day asked for; null is open.';
comment on column ops.sweep_window.to_day is 'Last created day asked for; null is open.';
comment on column ops.sweep_window.state is 'walking or accepted.';
comment on column ops.sweep_window.attempt is 'Which try it is, from 1.';
comment on column ops.sweep_window.next_page is 'Page to ask next; 0 when page 1 is read.';
comment on column ops.sweep_window.pages is 'Pages read.';
comment on column ops.sweep_window.greatest_total is 'Greatest number of records that the service claimed.';
comment on column ops.sweep_window.first_total is 'What it claimed at the beginning.';
comment on column ops.sweep_window.last_total is 'What it claimed at the end.';
comment on column ops.sweep_window.distinct_ids is 'Different ids seen.';
create table if not exists ops.sweep_id (
  sweep_id text not null, number bigint not null, record_id text not null, created_at text, updated_at text
);
comment on table ops.sweep_id is 'One row per id seen in a sweep that is not judged yet.';
comment on column ops.sweep_id.sweep_id is 'The sweep.';
comment on column ops.sweep_id.number is 'Its window.';
comment on column ops.sweep_id.record_id is 'Id of the record.';
comment on column ops.sweep_id.created_at is 'As the service wrote it.';
comment on column ops.sweep_id.updated_at is 'As the service wrote it.';
create table if not exists ops.out_of_sight (
  resource text not null, record_id text not null, scope_id text not null, since timestamptz not null,
  primary key (resource, record_id, scope_id)
);
comment on table ops.out_of_sight is 'One row per record and scope that never showed it: missing there it is not gone.';
comment on column ops.out_of_sight.resource is 'The resource.';
comment on column ops.out_of_sight.record_id is 'Id of the record.';
comment on column ops.out_of_sight.scope_id is 'What the key could see; see ops.key_scope.';
comment on column ops.out_of_sight.since is 'Since when that is known.';
create table if not exists ops.unread (
  resource text not null, record_id text not null, created_at text, updated_at text,
  noted_at timestamptz not null, primary key (resource, record_id)
);
comment on table ops.unread is 'One row per record that a sweep saw and the warehouse lacks, or holds in an older version.';
comment on column ops.unread.resource is 'The resource.';
comment on column ops.unread.record_id is 'Id of the record.';
comment on column ops.unread.created_at is 'As the service wrote it.';
comment on column ops.unread.updated_at is 'As the service wrote it.';
comment on column ops.unread.noted_at is 'When it was noted.';
create table if not exists ops.list_count (
  resource text not null, run_id text not null, scope_id text not null, total bigint not null,
  held bigint not null, counted_at timestamptz not null, primary key (resource, run_id)
);
comment on table ops.list_count is 'One row per list and run that compared counts.';
comment on column ops.list_count.resource is 'The resource.';
comment on column ops.list_count.run_id is 'The run.';
comment on column ops.list_count.scope_id is 'What the key could see; see ops.key_scope.';
comment on column ops.list_count.total is 'Rows the service counts.';
comment on column ops.list_count.held is 'Live rows that the warehouse holds.';
comment on column ops.list_count.counted_at is 'When they were counted.';
