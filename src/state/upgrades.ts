/** What earlier versions named or wrote otherwise, and the statements that bring it to the declarations. */
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'

/**
 * The number of the structure: of its tables, their columns, and the words in them. Once a release has it, a change takes
 * the next number and a fixture of it (`npm run fixture:warehouse`), which a test migrates from then on.
 * 1: every warehouse without a number, the scans in tables of their own. 2: one table of scans.
 */
export const schemaVersion = 2

export interface Upgrade {
  /** A table or column that only earlier versions made, such as `ops.watermark.mark`. */
  readonly found: string
  /** A column that only later versions made: with it there is nothing to do. */
  readonly lacks?: string
  readonly statements: readonly string[]
}

/** Run before the declared tables are made, so that what has only a new name keeps its rows. */
export const renames: readonly Upgrade[] = [
  {
    found: 'ops.hint',
    statements: [
      'alter table ops.hint rename to change_signal',
      'alter table ops.change_signal rename column hint to signal',
      'alter table ops.change_signal rename column told to signalled',
    ],
  },
  {
    found: 'ops.watermark.mark',
    statements: [
      'alter table ops.watermark rename column mark to watermark',
      'alter table ops.watermark rename column pending_mark to pending_watermark',
    ],
  },
  { found: 'ops.witness', statements: ['alter table ops.witness rename to evidence'] },
  {
    found: 'ops.deletion.witnesses',
    statements: ['alter table ops.deletion rename column witnesses to evidence'],
  },
  {
    found: 'ops.list_count.held',
    statements: ['alter table ops.list_count rename column held to stored'],
  },
  {
    found: 'ops.discovered.misses',
    statements: ['alter table ops.discovered rename column misses to failed_fetches'],
  },
  // A moment by the clock of whoever wrote it; the service says it again.
  { found: 'ops.pause.paused_until', statements: ['drop table ops.pause'] },
]

/** Windows of a sweep were numbered. */
const sweptScanId = `w.sweep_id || '-' || lpad(cast(w.number as varchar), 4, '0')`

/** One table for the progress of all scans took the place of two, and one for their ids. */
const scans: readonly Upgrade[] = [
  {
    found: 'ops.window',
    statements: [
      `insert into ops.scan (scan_id, resource, kind, from_day, to_day, scope, state, attempt, next_page, loaded_sequence, pages,
         first_total, greatest_total, last_total, expected_ids, distinct_ids, first_watermark, run_id, started_at, accepted_at)
       select window_id, resource, case kind when 'hydrate' then 'by id' else kind end, from_day, to_day, scope,
         case state when 'walking' then 'scanning' else state end, attempt, next_page, loaded_sequence, pages, greatest_total, greatest_total, greatest_total, greatest_total,
         distinct_ids, first_mark, run_id, started_at, accepted_at
       from ops.window`,
      'drop table ops.window',
    ],
  },
  {
    found: 'ops.window_id',
    statements: [
      'insert into ops.scan_id (scan_id, record_id) select window_id, record_id from ops.window_id',
      'drop table ops.window_id',
    ],
  },
  {
    found: 'ops.sweep_window',
    statements: [
      `insert into ops.scan (scan_id, resource, kind, sweep_id, from_day, to_day, state, attempt, next_page, loaded_sequence, pages,
         first_total, greatest_total, last_total, expected_ids, distinct_ids, run_id, started_at, accepted_at)
       select ${sweptScanId}, s.resource, 'sweep', w.sweep_id, w.from_day, w.to_day,
         case w.state when 'walking' then 'scanning' else w.state end, w.attempt, w.next_page, 0, w.pages,
         w.first_total, w.greatest_total, w.last_total, w.greatest_total, w.distinct_ids, s.run_id, s.started_at,
         case w.state when 'accepted' then s.ended_at end
       from ops.sweep_window w join ops.sweep s on s.sweep_id = w.sweep_id`,
      'drop table ops.sweep_window',
    ],
  },
  {
    found: 'ops.sweep_id',
    statements: [
      `insert into ops.scan_id (scan_id, record_id, created_at, updated_at)
       select ${sweptScanId}, w.record_id, w.created_at, w.updated_at from ops.sweep_id w`,
      'drop table ops.sweep_id',
    ],
  },
]

/** Only superseded versions had their beginning. */
const beginnings = physicalTables.map((table): Upgrade => {
  const found = `${table.schema}.${table.name}`
  const began = 'case when is_deleted then deleted_at else coalesce(source_updated_at, loaded_at) end'
  return {
    found,
    lacks: `${found}.valid_from`,
    statements: [`update ${qualified(table)} set valid_from = ${began}`],
  }
})

const valuesInReport = `ops.schema_drift where kind = 'unknown value' and strpos(path, ' = ') > 0`
const valuePlace = `substr(path, 1, strpos(path, ' = ') - 1)`

/**
 * Run after the declared tables are made: rows that move into other tables, and words that changed. In a transaction of
 * their own: DuckDB cannot alter a table that the same transaction has written.
 */
export const conversions: readonly Upgrade[] = [
  ...scans,
  ...beginnings,
  {
    // It had one row per resource, whichever kind of key asked last.
    found: 'ops.access',
    statements: [
      `insert into ops.key_access (resource, key_kind, way, state, reason, checked_at)
       select a.resource, case when a.state = 'not for this kind of key' then 'agency' else coalesce(k.kind, 'company') end,
         case when a.state = 'not for this kind of key' then 'not at all'
           when exists (select 1 from ops.watermark w where w.resource = a.resource) then 'list' else 'by id' end,
         a.state, a.reason, a.checked_at
       from ops.access a left join (select kind from ops.key_scope order by observed_at desc, run_id desc limit 1) k on true
       on conflict do nothing`,
      'drop table ops.access',
    ],
  },
  {
    // Values and keys of the service stood in the report, which is published.
    found: 'ops.schema_drift',
    statements: [
      `insert into pii.unknown_value (resource, path, value, run_id, seen_at)
       select resource, ${valuePlace}, substr(path, strpos(path, ' = ') + 3), run_id, seen_at from ${valuesInReport}
       on conflict do nothing`,
      `insert into ops.schema_drift (resource, path, kind, example_type, run_id, seen_at)
       select resource, ${valuePlace}, kind, 'text', min(run_id), min(seen_at) from ${valuesInReport}
       group by resource, ${valuePlace}, kind on conflict do nothing`,
      `delete from ${valuesInReport}`,
      `delete from ops.schema_drift where kind = 'unknown field'
       and regexp_replace(path, '[A-Za-z0-9_$.*-]|\\[\\]', '', 'g') <> ''`,
    ],
  },
  {
    // Not the column's earlier name: a process that died after the renames would leave the words behind.
    found: 'ops.discovered',
    statements: [
      `update ops.discovered set state = case state when 'held' then 'stored' else 'never fetched' end
       where state in ('held', 'unseen')`,
    ],
  },
]
