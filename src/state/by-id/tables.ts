/** Declares the tables of records without a list endpoint: known ids, and how well change signals predict a change. */
import { count, type LedgerRow, oneOf, optional, real, table, text, time } from '../declaration.ts'

export const byIdTables = {
  discovered: table({
    description:
      'One row per known id of a record that has no list endpoint: where it was found, and the result of fetching it.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record; a hash of the text when it cannot be an id.'),
      source: text('First source of the id: a column of star or a file, else an event.'),
      first_seen_at: time('When that source was read.'),
      state: oneOf({
        'never fetched': 'the service has not been asked for it',
        stored: 'star has the version fetched at last_fetched_at',
        missing: 'the last fetch got 404',
        refused: 'the last fetch was refused, or the text cannot be an id',
      }),
      state_since: time('When it entered that state.'),
      reason: optional(text('Why it is missing or refused; null otherwise.')),
      key_scope: optional(
        text(
          'What the key could see when the record was missing or refused; a key with another scope asks again.',
        ),
      ),
      checked_at: optional(time('When the service last answered about it.')),
      last_fetched_at: optional(time('When the version in star was fetched.')),
      fetched_by: optional(
        text('Run that fetched it last, changed or not; null for a record that came with another record.'),
      ),
      retry_after: optional(
        time('When a missing or refused record is fetched again; null: only when the key has another scope.'),
      ),
      fetches: count('Fetches that returned the record; 0 for a record that came with another record.'),
      failed_fetches: count('Failed fetches in a row.'),
      changes: real('Fetches that found a change; fetches of 180 days ago count half.'),
      exposure_days: real('Days over which such a change could be found, with the same weights.'),
      signals: count('Events since the last fetch began.'),
      signalled_at: optional(time('When the last of them arrived.')),
    },
    key: ['resource', 'record_id'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  change_signal: table({
    description:
      'One row per resource, change signal and state of its records: how often the signal was followed by a change. All counts halve in 90 days.',
    columns: {
      resource: text('The resource.'),
      signal: text('event, or the column that relates its records to the changed one.'),
      kind: text('State of the records; empty for records without one.'),
      signalled: real('Fetches of a record with the signal.'),
      unchanged: real('How many of these fetches found no change.'),
      unchanged_expected: real('How many would have found no change if the signal meant nothing.'),
      quiet_changes: real('Changes found by fetches of a record without the signal.'),
      quiet_expected: real('How many would have been found if the absence of the signal meant nothing.'),
      updated_at: time('When the counts last changed.'),
    },
    key: ['resource', 'signal', 'kind'],
    isPublished: true,
    lifetime: 'lasting',
  }),
}

export type DiscoveredRow = LedgerRow<typeof byIdTables.discovered>
