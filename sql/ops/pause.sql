-- Until when the service told a key not to call; where processes share their requests, ops.request_budget has it.
create table if not exists ops.pause (key_id text primary key, paused_until timestamptz not null);
comment on table ops.pause is 'One row per key that the service told not to call for a while.';
comment on column ops.pause.key_id is 'Names the key without giving it away.';
comment on column ops.pause.paused_until is 'Until when.';
