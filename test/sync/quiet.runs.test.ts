/** A sync that is answered what the sync before it was answered loads nothing, and whatever differs is loaded. */
import { expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const begin = Date.UTC(2026, 2, 1)
const at = (minute: number): string => new Date(begin + minute * 60_000).toISOString()

const project = (index: number, more: object = {}): object => ({
  id: `p${index}`,
  name: `Project ${index}`,
  company: { id: 'c1', name: 'Company 1' },
  createdAt: at(index),
  updatedAt: at(index),
  ...more,
})

const json = (records: readonly object[]): string[] => records.map(record => JSON.stringify(record))

/** Counts the batches that are staged. */
function counted(engine: Engine): { readonly engine: Engine; readonly loads: () => number } {
  let loads = 0
  const staging: Engine['staging'] = work => {
    loads += 1
    return engine.staging(work)
  }
  const counting = new Proxy(engine, {
    get: (target, name) => (name === 'staging' ? staging : Reflect.get(target, name, target)),
  })
  return { engine: counting, loads: () => loads }
}

describeOnEngines('a sync with nothing new', bench => {
  async function ready() {
    const warehouse = await bench.warehouse()
    const records = Array.from({ length: 30 }, (_, index) => project(index))
    const list = await oneList('/projects', records)
    const request = { resources: ['projects'] }
    const { engine, loads } = counted(warehouse.engine)
    const watched = { ...warehouse, engine }
    const sync = async () => {
      const before = loads()
      const { resources, failure } = await syncOnce(list, watched, { request })
      expect(failure).toBeUndefined()
      const [{ records_read, rows_inserted, rows_changed, records_unchanged } = {} as never] = resources
      return { loads: loads() - before, read: records_read, rows_inserted, rows_changed, records_unchanged }
    }
    const stored = async (id: string) =>
      (
        await warehouse.engine.rows<Record<string, unknown>>(
          'select name, is_deleted, source_updated_at from star.dim_project where project_id = $1',
          [id],
        )
      )[0]
    // The backfill, and the first scan of changes, which still compares.
    await sync()
    expect(await sync()).toMatchObject({ loads: 1, rows_changed: 0 })
    return { list, records, sync, stored, engine: warehouse.engine }
  }

  test('compares the ids with what is stored, and loads no page', async () => {
    const { sync, engine } = await ready()
    const quiet = await sync()
    expect(quiet).toMatchObject({ loads: 0, rows_inserted: 0, rows_changed: 0 })
    expect(quiet.records_unchanged).toBe(quiet.read)
    expect(quiet.read).toBeGreaterThan(0)
    const [scan] = await engine.rows<Record<string, unknown>>(
      `select state, distinct_ids, expected_ids from ops.scan where kind = 'incremental' order by scan_id desc limit 1`,
    )
    expect(scan?.state).toBe('accepted')
    expect(Number(scan?.distinct_ids)).toBe(Number(scan?.expected_ids))
    expect(await engine.rows('select * from ops.scan_id')).toEqual([])
  })

  test('loads a record that changed without another time or version', async () => {
    const { sync, list, records, stored } = await ready()
    list.records = json([...records.slice(0, -1), project(29, { name: 'Renamed' })])
    expect(await sync()).toMatchObject({ loads: 1, rows_changed: 1 })
    expect((await stored('p29'))?.name).toBe('Renamed')
    expect(await sync()).toMatchObject({ loads: 0 })
  })

  test('loads a new record, and then knows it', async () => {
    const { sync, list, records, stored } = await ready()
    list.records = json([...records, project(30)])
    expect(await sync()).toMatchObject({ loads: 1, rows_inserted: 1 })
    expect((await stored('p30'))?.name).toBe('Project 30')
    expect(await sync()).toMatchObject({ loads: 0 })
  })

  test('loads what the warehouse has lost, or holds in an older version', async () => {
    const { sync, stored, engine } = await ready()
    await engine.run(`delete from star.dim_project where project_id = 'p29'`)
    expect(await sync()).toMatchObject({ loads: 1, rows_inserted: 1 })
    expect(await stored('p29')).toBeDefined()
    await engine.run(
      `update star.dim_project set name = 'Old', row_hash = 'old', source_updated_at = timestamptz '2026-02-01 00:00:00Z'
       where project_id = 'p29'`,
    )
    expect(await sync()).toMatchObject({ loads: 1, rows_changed: 1 })
    expect((await stored('p29'))?.name).toBe('Project 29')
  })

  test('loads a record that is marked as deleted and still shown', async () => {
    const { sync, stored, engine } = await ready()
    await engine.run(
      `update star.dim_project set is_deleted = true, deleted_at = timestamptz '2026-03-02 00:00:00Z' where project_id = 'p29'`,
    )
    expect(await sync()).toMatchObject({ loads: 1, rows_changed: 1 })
    expect((await stored('p29'))?.is_deleted).toBe(false)
  })

  test('loads pages while evidence of a deletion stands, which a record that is shown makes void', async () => {
    const { sync, engine } = await ready()
    await engine.run(
      `insert into ops.evidence (resource, record_id, kind, source, seen_at)
       values ('projects', 'p29', 'sweep', 'r0', timestamptz '2026-03-02 00:00:00Z')`,
    )
    expect(await sync()).toMatchObject({ loads: 1 })
    expect(await engine.rows('select record_id from ops.evidence where void_at is null')).toEqual([])
    expect(await sync()).toMatchObject({ loads: 0 })
  })
})
