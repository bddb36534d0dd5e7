-- Until when the service told a key not to call; where processes share their requests, ops.request_budget has it.
create table if not exists ops.pause (key_id text primary key, paused_until timestamptz not null);
