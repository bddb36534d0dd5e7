-- What is gone at the service: who saw it missing, which rows were tombstoned for it, and what a key could see meanwhile.
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
