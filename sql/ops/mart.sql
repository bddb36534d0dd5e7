-- One row per mart: what it was last built from, and how the last attempt went. A failed attempt leaves what was built.
create table if not exists ops.mart (
  name text primary key, definition_id text not null, shape text not null, sources text not null,
  state text not null, built_at timestamptz, as_of timestamptz, rows bigint, milliseconds bigint,
  tried_at timestamptz not null, message text, run_id text not null
);
comment on table ops.mart is 'One row per mart: what it was last built from, and how the last attempt went.';
comment on column ops.mart.name is 'The mart, without its schema.';
comment on column ops.mart.definition_id is 'Definition that it was built from: changes with its file.';
comment on column ops.mart.shape is 'Hash of its columns: as long as it stays the same, the table can stay.';
comment on column ops.mart.sources is 'What it was built from; it is built again when this differs.';
comment on column ops.mart.state is 'How the last attempt went: built, failed or refused.';
comment on column ops.mart.built_at is 'When the rows that it has now were made; null before the first.';
comment on column ops.mart.as_of is 'Until when its rows know what the service said.';
comment on column ops.mart.rows is 'Rows that it has now.';
comment on column ops.mart.milliseconds is 'How long the last build that succeeded took.';
comment on column ops.mart.tried_at is 'When the last attempt was made.';
comment on column ops.mart.message is 'Why the last attempt failed or was refused.';
comment on column ops.mart.run_id is 'Run that made the last attempt.';
