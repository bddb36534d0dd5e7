-- Requests that each API key may still send, as the service last reported.
-- Grain: one row per API key.
-- Question: Are enough of the day's requests left for the next sync?
-- Sources: ops.api_usage
-- Measures: none rate_limit_per_minute, rate_limit_per_day, requests_today, remaining_today
-- Columns:
--   api_key_id text key: First 16 hex digits of the SHA-256 of the key.
--   rate_limit_per_minute bigint: Requests a minute; empty when the service did not report it.
--   rate_limit_per_day bigint: Requests a UTC day; empty when the service did not report it.
--   requests_today bigint: Requests of the UTC day of observed_at, from every program with the key.
--   remaining_today bigint: Requests that were left of that day; each day starts with all of them.
--   observed_at timestamptz: When the service reported it.
with ranked as (
  select u.api_key_id, u.rate_limit_per_minute, u.rate_limit_per_day, u.requests_today, u.remaining_today, u.observed_at,
    row_number() over (partition by u.api_key_id order by u.observed_at desc, u.run_id desc) as place
  from ops.api_usage as u
)
select
  ranked.api_key_id, ranked.rate_limit_per_minute, ranked.rate_limit_per_day, ranked.requests_today, ranked.remaining_today,
  ranked.observed_at
from ranked
where ranked.place = 1
