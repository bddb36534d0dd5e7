/** Declares the webhook tables: the inbox, refused deliveries, and the fact table that analysts read. */
import { count, day, flag, oneOf, optional, starTable, table, text, time } from '../declaration.ts'

const event = {
  event_id: text(
    'Id of the event, the same in every delivery; with ~ and a hash where an earlier event about another record has the id.',
  ),
  type: text('Event type as sent.'),
  entity: optional(text('Entity of the record; null for an unknown type.')),
  record_id: optional(text('Record of the event; null if the event names none.')),
  created_at: optional(time('When it happened, according to the event.')),
  received_at: time('When it first arrived here.'),
}

const states = {
  new: 'not drained yet',
  signalled: 'its record is still to be fetched',
  done: 'its record was fetched',
  unknown: 'stored only, as its type is unknown',
  unreadable: 'stored only, as it names no usable record',
  test: 'stored only, as it is a test delivery',
}

export const inboxTables = {
  inbox: table({
    description: 'One row per webhook event, however often it was delivered.',
    columns: {
      ...event,
      deliveries: count('Deliveries with a valid signature.'),
      state: oneOf(states),
      payload: optional(
        text('First 2,048 bytes of a body that the other columns cannot express; null otherwise.'),
      ),
      drained_by: optional(text('Process that drained it.')),
      drained_at: optional(time('When it was drained.')),
      result: optional(
        text('Result of the event: read, listed, not found, refused, or evidence of a deletion.'),
      ),
      settled_at: optional(time('When nothing was left to do.')),
    },
    key: ['event_id'],
    indexes: [
      { name: 'inbox_undrained_idx', columns: ['received_at'], where: 'drained_at is null' },
      { name: 'inbox_waiting_idx', columns: ['entity', 'record_id'], where: `state = 'signalled'` },
      { name: 'inbox_drain_idx', columns: ['drained_by'] },
    ],
    isPublished: false,
    lifetime: 'lasting',
  }),

  refused_delivery: table({
    description: 'One row per day and reason for which webhook deliveries were refused.',
    columns: {
      day: day('Day in UTC.'),
      reason: text(
        'headers, timestamp or signature: not from the service; body: signed, but no event; request: not a delivery at all; full: the inbox had no room.',
      ),
      deliveries: count('Number of deliveries; nothing else about them is stored.'),
    },
    key: ['day', 'reason'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  fact_webhook_event: starTable({
    description: 'One row per received webhook event, whatever its result.',
    columns: {
      ...event,
      delivered_count: count('Deliveries with a valid signature.'),
      signature_ok: flag('Always true: an event without a valid signature is not stored.'),
      state: oneOf(states),
      fetch_result: optional(
        text('Result of the event: read, listed, not found, refused, or evidence of a deletion.'),
      ),
      fetched_at: optional(time('When the record was fetched after the event.')),
      loaded_at: time('When this row last changed.'),
    },
    indexes: [{ name: 'fact_webhook_event_idx', columns: ['event_id'], isUnique: true }],
    isPublished: true,
    lifetime: 'lasting',
  }),
}
