/** Declares the tables of requests: what the key may read, what it has spent, and when it may call again. */
import { count, day, type LedgerRow, oneOf, optional, table, text, time } from '../declaration.ts'

export const requestTables = {
  key_access: table({
    description:
      'One row per resource and kind of key that requested it: whether that kind may read it, and how.',
    columns: {
      resource: text('The resource.'),
      key_kind: oneOf(['company', 'agency']),
      way: oneOf(['list', 'by id', 'not at all']),
      state: oneOf({
        readable: 'it was read',
        refused: 'it was never readable, or its loss was accepted',
        'no longer readable': 'it was read before but is refused now',
        'not for this kind of key': 'an agency key cannot read it',
      }),
      reason: optional(text('The answer of the service.')),
      checked_at: time('When the service was asked.'),
    },
    key: ['resource', 'key_kind'],
    isPublished: false,
    lifetime: 'lasting',
    shared: { columns: ['resource', 'key_kind', 'way', 'state', 'checked_at'] },
  }),

  api_usage: table({
    description: 'One row per reading of the limits and usage of the key.',
    columns: {
      run_id: text('Run that read them.'),
      api_key_id: text('First 16 hex digits of the SHA-256 of the key.'),
      requests_today: optional(count('Requests of the UTC day, as the service counts them.')),
      remaining_today: optional(count('Requests left that day.')),
      resets_at: optional(text('When the day ends, as the service wrote it.')),
      last_used_at: optional(text('When the key was last used, as the service wrote it.')),
      observed_at: time('When they were read.'),
      rate_limit_per_minute: optional(count('Requests a minute.')),
      rate_limit_per_day: optional(count('Requests a UTC day.')),
    },
    isPublished: false,
    lifetime: 'lasting',
  }),

  sent: table({
    description:
      'One row per second in which requests were sent, so that the next process stays within the limit of the minute.',
    columns: {
      second: count('Start of the second, in epoch seconds.'),
      requests: count('Requests sent in it.'),
    },
    key: ['second'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  request_budget: table({
    description:
      'One row per key that several processes share: the slots of its minute and the counts of its day.',
    columns: {
      key_id: text('Identifies the key without revealing it.'),
      per_minute: count('Requests a minute.'),
      per_day: count('Requests a UTC day.'),
      next_at: time('When the next slot is due.'),
      noted_at: optional(time('When it was last written; a time in the future does not count.')),
      retry_after_until: optional(time('When requests may be sent again, by the last retry-after.')),
      day: day('UTC day of the counts.'),
      others: count('Requests of the day that other programs sent.'),
      sync: count('Requests of the day for syncs.'),
      reconcile: count('Requests of the day for crosschecks.'),
      webhook: count('Requests of the day for events.'),
      operator: count('Requests of the day for commands run by hand.'),
    },
    key: ['key_id'],
    isPublished: false,
    lifetime: 'local',
  }),

  event_requests: table({
    description:
      'One row per key: requests of a day for events. When processes share a key, ops.request_budget has them instead.',
    columns: {
      key_id: text('Identifies the key without revealing it.'),
      day: day('UTC day of the count.'),
      requests: count('Requests of the day for events; a read under way counts as many as it may send.'),
    },
    key: ['key_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  retry_after: table({
    description:
      'One row per key: the last retry-after of the service. When processes share a key, ops.request_budget has it instead.',
    columns: {
      key_id: text('Identifies the key without revealing it.'),
      said_at: time('When the service sent it, by the clock of this machine.'),
      wait_ms: count('Milliseconds to wait before the next request.'),
    },
    key: ['key_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),
}

export type AccessRow = LedgerRow<typeof requestTables.key_access>
export type ApiUsageRow = LedgerRow<typeof requestTables.api_usage>
