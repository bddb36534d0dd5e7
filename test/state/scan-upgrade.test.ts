/** Scans that version 0.1.0 had begun go on after an upgrade: no page is asked for twice, and no id is forgotten. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { plainRecords } from '../sync/plain-records.ts'
import { describeOnEngines, rowsTouched, syncOnce, type Warehouse } from '../warehouse/fixture.ts'

const earlier = readFileSync(new URL('version-0.sql', import.meta.url), 'utf8').split(/;\s*$/m)

const made = (table: string): string =>
  earlier.find(statement => statement.includes(`create table if not exists ops.${table} (`)) ?? ''

const number = `cast(right(scan_id, 4) as bigint)`
const state = `case state when 'scanning' then 'walking' else state end`

/** Puts the tables of version 0.1.0, with the same progress, in the place of the ones it did not have. */
async function downgrade(warehouse: Warehouse): Promise<void> {
  const { engine } = warehouse
  for (const sql of [
    ...['window', 'window_id', 'sweep_window', 'sweep_id'].map(made),
    `insert into ops.window select scan_id, resource, kind, from_day, to_day, scope, ${state}, attempt, next_page, loaded_sequence,
       pages, greatest_total, distinct_ids, first_watermark, run_id, started_at, accepted_at from ops.scan where kind <> 'sweep'`,
    `insert into ops.window_id select i.scan_id, i.record_id from ops.scan_id i join ops.scan s on s.scan_id = i.scan_id
     where s.kind <> 'sweep'`,
    `insert into ops.sweep_window select sweep_id, ${number}, from_day, to_day, ${state}, attempt, next_page, pages, greatest_total,
       first_total, last_total, distinct_ids from ops.scan where kind = 'sweep'`,
    `insert into ops.sweep_id select s.sweep_id, cast(right(s.scan_id, 4) as bigint), i.record_id, i.created_at, i.updated_at
     from ops.scan_id i join ops.scan s on s.scan_id = i.scan_id where s.kind = 'sweep'`,
    'drop table ops.scan_id',
    'drop table ops.scan',
    `update ops.migration set checksum = 'of before' where name = 'structure'`,
  ])
    await engine.run(sql)
  await warehouse.close()
  await warehouse.open()
}

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const resources = ['timesheets']

describeOnEngines(
  'a warehouse of version 0.1.0 in the middle of',
  bench => {
    test('a first sync and a sweep', async () => {
      const sandbox = await openSandbox({ records: plainRecords({ timesheets: 900 }), ...roomy })
      const warehouse = await bench.warehouse()
      const run = async (request: object) => {
        const before = sandbox.requests.length
        const outcome = await syncOnce(sandbox, warehouse, { request: { resources, ...request } })
        const asked = sandbox.requests.slice(before).filter(({ path }) => path === '/timesheets')
        return { outcome, pages: asked.map(({ query }) => query.page) }
      }
      const first = await run({ limits: { maxRequests: 4 } })
      expect(first.pages).toEqual(['1', '5', '4'])
      await downgrade(warehouse)
      const rest = await run({})
      expect(rest.outcome.failure).toBeUndefined()
      // What the version before has seen proves nothing: another pass follows, and the last page of what changed meanwhile.
      expect(rest.pages).toEqual(['3', '2', '1', '5', '5', '4', '3', '2', '1', '5'])
      expect(rowsTouched(first.outcome) + rowsTouched(rest.outcome)).toBe(900)
      const scans = () =>
        warehouse.engine.rows(
          `select kind, state, cast(distinct_ids as integer) as ids, cast(expected_ids as integer) as expected
           from ops.scan where kind <> 'incremental' order by started_at, scan_id`,
        )
      const backfill = { kind: 'backfill', state: 'accepted', ids: 900, expected: 900 }
      expect(await scans()).toEqual([backfill])

      const sweep = { command: 'sweep', sweep: {} }
      const begun = await run({ ...sweep, limits: { maxRequests: 3 } })
      expect(begun.pages).toEqual(['5', '4'])
      await downgrade(warehouse)
      const swept = await run(sweep)
      expect(swept.outcome.failure).toBeUndefined()
      expect(swept.pages.slice(0, 3)).toEqual(['3', '2', '1'])
      expect(await scans()).toEqual([backfill, { ...backfill, kind: 'sweep' }])
      expect(
        await warehouse.engine.rows('select state, cast(seen as integer) as seen from ops.sweep'),
      ).toEqual([{ state: 'accepted', seen: 900 }])
      const unjudged = 'select count(*)::integer as n from ops.scan_id'
      expect(await warehouse.engine.rows(unjudged)).toEqual([{ n: 0 }])
    })
  },
  'all',
)
