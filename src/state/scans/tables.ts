/** Declares the tables of scans: how far each list has been read, and the progress and proof of every scan. */
import { count, type LedgerRow, oneOf, optional, table, text, time } from '../declaration.ts'

export const scanTables = {
  watermark: table({
    description: 'One row per list: how far it has been read.',
    columns: {
      resource: text('The resource.'),
      watermark: optional(
        text('Greatest updatedAt on the first page of the last complete scan, as the service wrote it.'),
      ),
      pending_watermark: optional(
        text('The watermark that becomes valid when the current backfill is complete.'),
      ),
      earliest_day: optional(text('Day of the oldest record, where a backfill ends.')),
      remembered_total: optional(
        count('Last total from the service; the next scan starts at the last page by this total.'),
      ),
      page_size: optional(
        count('Rows of a full page if the service returns fewer than requested; null otherwise.'),
      ),
      hidden_rows: optional(count('Rows that the service counts but shows on no page; null if none.')),
      backfilled_at: optional(time('When the first complete scan ended.')),
      empty_since: optional(
        time(
          'When a scan first found the list empty although its records are stored; null while it has rows.',
        ),
      ),
      same_rows: optional(
        text('SHA-256 of the rows of each page that the last scan of changes loaded, to recognise them.'),
      ),
      changes_filter: optional(
        oneOf({
          honoured: 'a list filtered by updatedAt showed an old record that changed',
          ignored: 'it did not, or it counts hidden rows: changes are read from the unfiltered list',
        }),
      ),
      filter_asked_at: optional(
        time('When changes_filter was determined; ignored is checked again after a week.'),
      ),
      run_id: text('Run that moved the watermark.'),
      moved_at: time('When it was moved.'),
    },
    key: ['resource'],
    isPublished: true,
    lifetime: 'lasting',
    shared: { columns: ['resource', 'backfilled_at', 'run_id', 'moved_at'] },
  }),

  scan: table({
    description:
      'One row per scan of a list, or of a part of it, with its progress and the figures that prove it complete.',
    columns: {
      scan_id: text('Id of the scan.'),
      resource: text('The resource.'),
      kind: oneOf({
        backfill: 'created days, for the first time or again',
        incremental: 'what changed',
        snapshot: 'a list without change times',
        'by id': 'records without a list',
        sweep: 'ids alone',
      }),
      sweep_id: optional(text('The sweep that it is a part of.')),
      from_day: optional(text('First created day requested; null is open.')),
      to_day: optional(text('Last created day requested, included; null is open.')),
      scope: optional(text('What a snapshot covers, such as one company.')),
      state: oneOf(['scanning', 'accepted', 'refused']),
      attempt: count('Number of the attempt, from 1.'),
      pass: optional(
        count(
          'Number of the current pass, from 1; another one starts when the page size turns out different.',
        ),
      ),
      page_size: optional(count('Rows of a full page, judged by the answers.')),
      next_page: count('Next page to request; 0 when the pass is over.'),
      loaded_sequence: count('Sequence number of the last page that is loaded.'),
      pages: count('Pages read in the current pass.'),
      first_total: count('Total on the first page of the pass.'),
      last_total: count('Total on the last page read.'),
      expected_ids: count('Ids needed to prove that every record was seen.'),
      distinct_ids: count(
        'Ids that count: in the list when the proved pass started, and seen then or later.',
      ),
      first_watermark: optional(
        text('Greatest updatedAt on the first pages of its passes, as the service wrote it.'),
      ),
      run_id: text('Run that began it.'),
      started_at: time('When it began.'),
      accepted_at: optional(time('When it was accepted as complete.')),
      service_started_at: optional(
        time("When it began by the service's clock; null if its answers had no time."),
      ),
      service_accepted_at: optional(time('When it was accepted, by the same clock.')),
    },
    key: ['scan_id'],
    isPublished: true,
    lifetime: 'lasting',
    shared: {
      columns: [
        'scan_id',
        'resource',
        'kind',
        'sweep_id',
        'from_day',
        'to_day',
        'scope',
        'state',
        'run_id',
        'started_at',
        'accepted_at',
      ],
    },
  }),

  scan_pass: table({
    description: 'One row per pass of an undecided scan: its pass start, when its first page was answered.',
    columns: {
      scan_id: text('The scan.'),
      pass: count('Number of the pass, from 1.'),
      front: count('Page that was answered.'),
      total: count('Records in the list at the pass start.'),
      existed_before: optional(
        count('Records with a time up to this one were in the list then; milliseconds since the epoch.'),
      ),
      watermark: optional(text('Greatest updatedAt until then, as the service wrote it.')),
    },
    key: ['scan_id', 'pass'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  scan_id: table({
    description: 'One row per id and batch of pages that had it, for undecided scans.',
    columns: {
      scan_id: text('The scan.'),
      record_id: text('Id of the record.'),
      first_pass: optional(count('First pass that saw it in this batch.')),
      last_pass: optional(count('Last pass that saw it in this batch.')),
      front_pass: optional(count('The pass whose first page had it.')),
      existed_at: optional(
        count(
          'The earlier of createdAt and updatedAt, in milliseconds since the epoch: the record existed then.',
        ),
      ),
      changed_at: optional(count('updatedAt, milliseconds since the epoch.')),
      created_at: optional(text('In a sweep, as the service wrote it.')),
      updated_at: optional(text('In a sweep, as the service wrote it.')),
    },
    indexes: [{ name: 'scan_id_idx', columns: ['scan_id', 'record_id'] }],
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
        implausible: 'it was read completely, but an implausible number of records was missing',
        refused: 'it was given up',
      }),
      started_at: time('When it began.'),
      ended_at: optional(time('When it ended; null while it runs.')),
      earliest_day: optional(text('Day of the oldest record, where its windows end.')),
      run_id: text('Run that began it.'),
      total: count('Totals from the service, summed over windows that overlap.'),
      seen: count('Distinct ids seen.'),
      judged: count('Live rows that should have been seen.'),
      missing: count('How many of these were not seen.'),
      note: optional(text('Why it was implausible or refused.')),
    },
    key: ['sweep_id'],
    isPublished: false,
    lifetime: 'lasting',
    shared: { columns: ['sweep_id', 'resource', 'scope_id', 'state', 'started_at', 'ended_at', 'run_id'] },
  }),

  unread: table({
    description:
      'One row per record whose current version is not stored, according to a sweep or a crosscheck.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record.'),
      created_at: optional(text('As the service wrote it.')),
      updated_at: optional(text('As the service wrote it.')),
      noted_at: time('When that was seen.'),
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
      stored: count('Live records that are stored.'),
      counted_at: time('When they were counted.'),
    },
    key: ['resource', 'run_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),
}

export type WatermarkRow = LedgerRow<typeof scanTables.watermark>
export type ScanRow = LedgerRow<typeof scanTables.scan>
export type ScanPassRow = LedgerRow<typeof scanTables.scan_pass>
export type ScanIdRow = LedgerRow<typeof scanTables.scan_id>
export type SweepRow = LedgerRow<typeof scanTables.sweep>
export type UnreadRow = LedgerRow<typeof scanTables.unread>
export type ListCountRow = LedgerRow<typeof scanTables.list_count>
