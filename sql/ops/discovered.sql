-- Ids of records that can be read one by one only: where each was seen, and what came of reading it.
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
comment on table ops.discovered is 'One row per id of a record that can be read one by one only: where it was seen, and what came of reading it.';
comment on column ops.discovered.resource is 'The resource.';
comment on column ops.discovered.record_id is 'Id of the record.';
comment on column ops.discovered.source is 'What named it first: a column of star, an event, or a file.';
comment on column ops.discovered.first_seen_at is 'When that was.';
comment on column ops.discovered.state is 'unseen, held, missing (the last read found none) or refused.';
comment on column ops.discovered.state_since is 'Since when it is in that state.';
comment on column ops.discovered.reason is 'Why it is missing or refused; null otherwise.';
comment on column ops.discovered.key_scope is 'What the key could reach when it was missing or refused.';
comment on column ops.discovered.checked_at is 'When the service last answered about it.';
comment on column ops.discovered.last_fetched_at is 'When the version in star was fetched.';
comment on column ops.discovered.fetched_by is 'Run that fetched it last, also when nothing had changed.';
comment on column ops.discovered.retry_after is 'From when it is asked for again; null for when the reach of the key changes.';
comment on column ops.discovered.fetches is 'Answers that brought the record.';
comment on column ops.discovered.misses is 'Answers in a row that did not.';
comment on column ops.discovered.changes is 'Fetches that found a change; those of 180 days ago count half.';
comment on column ops.discovered.exposure_days is 'Days over which a change could be seen, as far as they count.';
comment on column ops.discovered.signals is 'Events since the last fetch began.';
comment on column ops.discovered.signalled_at is 'When the last of them came.';
