-- One row per mart: what it was last built from, and how the last attempt went. A failed attempt leaves what was built.
create table if not exists ops.mart (
  name text primary key, definition_id text not null, shape text not null, sources text not null,
  state text not null, built_at timestamptz, as_of timestamptz, rows bigint, milliseconds bigint,
  tried_at timestamptz not null, message text, run_id text not null
);
