-- Ids of records that can be read one by one only: where each was seen, and what came of reading it.
create table if not exists ops.discovered (
  resource text not null, record_id text not null, source text not null, first_seen_at timestamptz not null,
  state text not null, state_since timestamptz not null, reason text, key_scope text,
  checked_at timestamptz, last_fetched_at timestamptz, retry_after timestamptz,
  fetches bigint not null, misses bigint not null, changes bigint not null, exposure_days double precision not null,
  signals bigint not null, signalled_at timestamptz,
  primary key (resource, record_id)
);
