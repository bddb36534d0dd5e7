-- Webhook events: one row per event, however often it was delivered. Only what no other column tells keeps its body.
create table if not exists ops.inbox (
  event_id text primary key, type text not null, entity text, record_id text, created_at timestamptz,
  received_at timestamptz not null, deliveries bigint not null, state text not null, payload text,
  drained_by text, drained_at timestamptz, result text, settled_at timestamptz
);
comment on table ops.inbox is 'One row per webhook event, however often it was delivered.';
comment on column ops.inbox.event_id is 'Event, the same in every delivery of it.';
comment on column ops.inbox.type is 'Event type as sent.';
comment on column ops.inbox.entity is 'Kind of record the event is about; null for a type that is not known.';
comment on column ops.inbox.record_id is 'Record the event is about; null when it names none.';
comment on column ops.inbox.created_at is 'When it happened, as the event says.';
comment on column ops.inbox.received_at is 'When it first arrived here.';
comment on column ops.inbox.deliveries is 'Deliveries with a right signature.';
comment on column ops.inbox.state is 'signalled: its record is to be read; done: it was read; unknown, unreadable or test: kept, and no data touched.';
comment on column ops.inbox.payload is 'Body of an event that no other column tells; null for the others.';
comment on column ops.inbox.drained_by is 'Process that drained it.';
comment on column ops.inbox.drained_at is 'When that was.';
comment on column ops.inbox.result is 'How the record was then found.';
comment on column ops.inbox.settled_at is 'When nothing was left to do.';
create table if not exists ops.refused_delivery (
  day date not null, reason text not null, deliveries bigint not null, primary key (day, reason)
);
comment on table ops.refused_delivery is 'One row per day and reason for which deliveries to the webhook were not taken.';
comment on column ops.refused_delivery.day is 'Day in UTC.';
comment on column ops.refused_delivery.reason is 'headers, timestamp or signature: not from who it should be; body: signed and no event; request: no delivery at all.';
comment on column ops.refused_delivery.deliveries is 'How many; nothing else is kept of them.';
create table if not exists star.fact_webhook_event (
  event_id text not null, type text not null, entity text, record_id text, created_at timestamptz,
  received_at timestamptz not null, delivered_count bigint not null, signature_ok boolean not null,
  state text not null, fetch_result text, fetched_at timestamptz, loaded_at timestamptz not null
);
comment on table star.fact_webhook_event is 'One row per webhook event that was received, whatever became of it.';
comment on column star.fact_webhook_event.event_id is 'Event, the same in every delivery of it.';
comment on column star.fact_webhook_event.type is 'Event type as sent.';
comment on column star.fact_webhook_event.entity is 'Kind of record the event is about; empty for a type that is not known.';
comment on column star.fact_webhook_event.record_id is 'Record the event is about; empty when it names none.';
comment on column star.fact_webhook_event.created_at is 'When it happened, as the event says.';
comment on column star.fact_webhook_event.received_at is 'When it first arrived here.';
comment on column star.fact_webhook_event.delivered_count is 'Deliveries with a right signature.';
comment on column star.fact_webhook_event.signature_ok is 'Always true: what is not signed is not kept.';
comment on column star.fact_webhook_event.state is 'signalled: its record is to be read; done: it was read; unknown, unreadable or test: kept, and no data touched.';
comment on column star.fact_webhook_event.fetch_result is 'How the record was then found: read, listed, not found, refused.';
comment on column star.fact_webhook_event.fetched_at is 'When the record was read after the event.';
comment on column star.fact_webhook_event.loaded_at is 'When this row last changed.';
