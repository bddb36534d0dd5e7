/** A warehouse made by an earlier version opens, gets the tables of this one, and keeps its rows. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { programVersion } from '../../src/lib/package.ts'
import { migrate } from '../../src/state/migrate.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { runTogether } from '../../src/warehouse/run-together.ts'
import { type Bench, describeOnEngines, type Warehouse } from '../warehouse/fixture.ts'

/** The tables of ops as version 0.1.0 made them, before they were declared. */
const earlier = readFileSync(new URL('version-0.sql', import.meta.url), 'utf8')

const now = '2026-11-22T12:00:00.000Z'

const rows = [
  `insert into ops.migration values ('structure', 'of before', timestamptz '${now}'),
     ('program', '${programVersion}', timestamptz '${now}')`,
  `insert into ops.hint values ('rates', 'event', '', 4, 1, 2.5, 3, 0.5, timestamptz '${now}')`,
  `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, fetches, misses, changes,
     exposure_days, signals)
   select 'rates', s.state, 'a file', timestamptz '${now}', s.state, timestamptz '${now}', 0, 3, 0.5, 10, 0
   from (values ('unseen'), ('held'), ('missing')) as s(state)`,
  `insert into ops.witness values ('rates', 'r1', 'by-id 404', 'run 1', timestamptz '${now}', null, null)`,
  `insert into ops.deletion values ('rates', 'r1', timestamptz '${now}', 'run 1', timestamptz '${now}', '[]', null, null)`,
  `insert into ops.watermark values ('timesheets', '2026-11-01T10:00:00Z', null, '2024-01-01', 120, null, 'r1',
     timestamptz '${now}')`,
  `insert into ops.schema_drift (resource, path, kind, example_type, run_id, seen_at)
   select 'timesheets', s.path, s.kind, 'VARCHAR', 'r1', timestamptz '${now}' from (values
     ('fact_timesheet.status = paused', 'unknown value'), ('fact_timesheet.status = Jane = J', 'unknown value'),
     ('worker."Jane Doe"', 'unknown field'), ('zone[].a', 'unknown field')) as s(path, kind)`,
  `insert into ops.window (window_id, resource, kind, state, attempt, next_page, loaded_sequence, pages, greatest_total, distinct_ids,
     run_id, started_at)
   values ('r1-rates', 'rates', 'hydrate', 'walking', 1, 1, 2, 2, 0, 0, 'r1', timestamptz '${now}')`,
]

async function earlierWarehouse(bench: Bench): Promise<Warehouse> {
  const warehouse = await bench.warehouse()
  await runTogether(warehouse.engine, [
    'drop schema ops cascade',
    'drop table star.fact_webhook_event',
    'create schema ops',
    ...earlier.split(/;\s*$/m).filter(statement => statement.trim()),
    ...rows,
  ])
  await warehouse.close()
  await warehouse.open()
  return warehouse
}

const structure = (engine: Engine): Promise<object[]> =>
  engine.rows(
    `select table_schema as schema, table_name as name, column_name as column, data_type as type, is_nullable as optional
     from information_schema.columns
     where table_catalog = current_database() and table_schema in ('star', 'mart', 'pii', 'history', 'ops')
     order by 1, 2, 3`,
  )

describeOnEngines(
  'a warehouse of version 0.1.0',
  bench => {
    test('has the tables of a new one after an upgrade, with the rows it had', async () => {
      const { engine } = await earlierWarehouse(bench)
      expect(await migrate(engine, now)).toBe(true)
      const fresh = await bench.warehouse()
      expect(await structure(engine)).toEqual(await structure(fresh.engine))
      expect(await engine.rows('select resource, watermark, remembered_total from ops.watermark')).toEqual([
        { resource: 'timesheets', watermark: '2026-11-01T10:00:00Z', remembered_total: 120 },
      ])
      expect(
        await engine.rows('select signal, signalled, unchanged_expected from ops.change_signal'),
      ).toEqual([{ signal: 'event', signalled: 4, unchanged_expected: 2.5 }])
      // Values and keys that may be data stood in the report, which is published.
      expect(await engine.rows('select path, kind from ops.schema_drift order by 1')).toEqual([
        { path: 'fact_timesheet.status', kind: 'unknown value' },
        { path: 'zone[].a', kind: 'unknown field' },
      ])
      expect(await engine.rows('select path, value from pii.unknown_value order by 2')).toEqual([
        { path: 'fact_timesheet.status', value: 'Jane = J' },
        { path: 'fact_timesheet.status', value: 'paused' },
      ])
      expect(await engine.rows('select kind, state from ops.scan')).toEqual([
        { kind: 'by id', state: 'scanning' },
      ])
      expect(await engine.rows('select state, failed_fetches from ops.discovered order by state')).toEqual([
        { state: 'missing', failed_fetches: 3 },
        { state: 'never fetched', failed_fetches: 3 },
        { state: 'stored', failed_fetches: 3 },
      ])
      expect(
        await engine.rows(
          'select e.source, d.evidence from ops.evidence e join ops.deletion d using (record_id)',
        ),
      ).toEqual([{ source: 'run 1', evidence: '[]' }])
      expect(await migrate(engine, now)).toBe(false)
    })
  },
  'all',
)
