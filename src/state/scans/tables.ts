/** Tables of scans: how far each list has been read, and the progress and proof of every scan. */
import { count, oneOf, optional, type Row, table, text, time } from '../declaration.ts'

export const scanTables = {
  watermark: table({
    description: 'One row per list: how far it has been read.',
    columns: {
      resource: text('The resource.'),
      mark: optional(
        text('Greatest updatedAt on the first page of the last complete scan, as the service wrote it.'),
      ),
      pending_mark: optional(text('The watermark that becomes valid when the current backfill is complete.')),
      earliest_day: optional(text('Day of the oldest record, where a backfill ends.')),
      remembered_total: optional(
        count('Total that the service reported last; the next scan begins at the last page of it.'),
      ),
      backfilled_at: optional(time('When the first complete scan ended.')),
      run_id: text('Run that moved the watermark.'),
      moved_at: time('When it was moved.'),
    },
    key: ['resource'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  window: table({
    description: 'One row per scan of a window of a resource, with the figures that prove it complete.',
    columns: {
      window_id: text('Id of the scan.'),
      resource: text('The resource.'),
      kind: oneOf(['backfill', 'incremental', 'snapshot', 'hydrate']),
      from_day: optional(text('First created day requested; null is open.')),
      to_day: optional(text('Last created day requested, included; null is open.')),
      scope: optional(text('What a snapshot covers, such as one company.')),
      state: oneOf(['walking', 'accepted', 'refused']),
      attempt: count('Number of the current pass, from 1.'),
      next_page: count('Next page to request; 0 when page 1 has been read.'),
      loaded_sequence: count('Sequence number of the last page that is loaded.'),
      pages: count('Pages read.'),
      greatest_total: count('Greatest total that the service claimed during the pass.'),
      distinct_ids: count('Distinct ids seen; at least greatest_total in an accepted scan.'),
      first_mark: optional(text('Greatest updatedAt on the first page.')),
      run_id: text('Run that began it.'),
      started_at: time('When it began.'),
      accepted_at: optional(time('When it was accepted as complete.')),
    },
    key: ['window_id'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  window_id: table({
    description: 'One row per id seen in a scan that is not complete yet.',
    columns: { window_id: text('The scan.'), record_id: text('Id of the record.') },
    indexes: [{ name: 'window_id_idx', columns: ['window_id', 'record_id'], isUnique: true }],
    isPublished: false,
    lifetime: 'lasting',
  }),

  sweep: table({
    description: 'One row per sweep of a list.',
    columns: {
      sweep_id: text('Id of the sweep.'),
      resource: text('The resource.'),
      scope_id: text('What the key could see; see ops.key_scope.'),
      state: oneOf({
        sweeping: 'it is being read',
        accepted: 'it was read completely',
        doubted: 'it was read completely, but too much was missing to believe it',
        refused: 'it was given up',
      }),
      started_at: time('When it began.'),
      ended_at: optional(time('When it ended; null while it runs.')),
      earliest_day: optional(text('Day of the oldest record, where its windows end.')),
      run_id: text('Run that began it.'),
      total: count('Totals that the service claimed, summed over windows that share days.'),
      seen: count('Distinct ids seen.'),
      judged: count('Live rows that should have been seen.'),
      missing: count('Rows of these that were not seen.'),
      note: optional(text('Why it was doubted or refused.')),
    },
    key: ['sweep_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  sweep_window: table({
    description: 'One row per window of a sweep.',
    columns: {
      sweep_id: text('The sweep.'),
      number: count('Number of the window, from 1.'),
      from_day: optional(text('First created day requested; null is open.')),
      to_day: optional(text('Last created day requested; null is open.')),
      state: oneOf(['walking', 'accepted']),
      attempt: count('Number of the current pass, from 1.'),
      next_page: count('Next page to request; 0 when page 1 has been read.'),
      pages: count('Pages read.'),
      greatest_total: count('Greatest total that the service claimed.'),
      first_total: count('Total at the beginning of the pass.'),
      last_total: count('Total at the end of the pass.'),
      distinct_ids: count('Distinct ids seen.'),
    },
    key: ['sweep_id', 'number'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  sweep_id: table({
    description: 'One row per id seen in a sweep whose missing records are not decided yet.',
    columns: {
      sweep_id: text('The sweep.'),
      number: count('Its window.'),
      record_id: text('Id of the record.'),
      created_at: optional(text('As the service wrote it.')),
      updated_at: optional(text('As the service wrote it.')),
    },
    isPublished: false,
    lifetime: 'lasting',
  }),

  unread: table({
    description: 'One row per record that a sweep saw and whose current version is not stored.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record.'),
      created_at: optional(text('As the service wrote it.')),
      updated_at: optional(text('As the service wrote it.')),
      noted_at: time('When the sweep saw it.'),
    },
    key: ['resource', 'record_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  list_count: table({
    description: 'One row per list and run that compared counts.',
    columns: {
      resource: text('The resource.'),
      run_id: text('The run.'),
      scope_id: text('What the key could see; see ops.key_scope.'),
      total: count('Records that the service counts.'),
      held: count('Live rows that are stored.'),
      counted_at: time('When they were counted.'),
    },
    key: ['resource', 'run_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),
}

export type WatermarkTable = Row<typeof scanTables.watermark>
export type WindowTable = Row<typeof scanTables.window>
export type SweepTable = Row<typeof scanTables.sweep>
export type SweepWindowTable = Row<typeof scanTables.sweep_window>
export type SweepIdTable = Row<typeof scanTables.sweep_id>
export type UnreadTable = Row<typeof scanTables.unread>
export type ListCountRow = Row<typeof scanTables.list_count>
