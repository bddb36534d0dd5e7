/** One list brought up to date: which scans follow each other, where they begin and end, and what they leave. */
import { describe, expect, test } from 'vitest'
import { syncCollection } from '../../../src/sync/scan/collection.ts'
import { daysQuery } from '../../../src/sync/scan/collection-window.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { List, type Reading, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const changed = { changedSince: { dateField: 'updatedAt' } }
const done = { backfilled_at: time('05-01'), watermark: time('01-10', 4), remembered_total: 5 }

async function synced(
  parts: Parameters<typeof begin>[0],
  watermark: Parameters<Reading['setWatermark']>[0] = {},
  stored = 5,
): Promise<Reading> {
  const reading = await begin(parts)
  await reading.setWatermark({ ...done, ...watermark })
  await reading.store(sites(stored))
  await syncCollection(reading.task)
  return reading
}

describe('a list that was never read', () => {
  test('is read from the beginning, and not twice', async () => {
    const { task, list, watermark } = await begin({ list: new List(sites(5)) })
    await syncCollection(task)
    expect(list.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200'])
    expect((await watermark())?.backfilled_at).toBe(time('06-01'))
  })

  test('whose backfill an earlier run began is scanned for changes after it', async () => {
    const { task, list, setWatermark, scans } = await begin({ list: new List(sites(5)) })
    await setWatermark({
      pending_watermark: time('01-10', 2),
      remembered_total: 5,
      earliest_day: '2026-01-10',
    })
    await syncCollection(task)
    expect((await scans()).map(({ kind, state }) => [kind, state])).toEqual([
      ['backfill', 'accepted'],
      ['incremental', 'accepted'],
    ])
    expect(list.asked).toEqual(['updatedAt 1 200', 'updatedAt 1 200'])
  })

  test('whose backfill is refused is not scanned for changes', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: 6 + (number % 2) })
    const { task, setWatermark, scans } = await begin({ list })
    await setWatermark({
      pending_watermark: time('01-10', 2),
      remembered_total: 5,
      earliest_day: '2026-01-10',
    })
    await expect(syncCollection(task)).rejects.toThrow('saw 5 of 6')
    expect((await scans()).map(({ kind }) => kind)).toEqual(['backfill'])
  })
})

describe('a list that was read before', () => {
  test('is scanned for changes, which move the watermark', async () => {
    const { list, watermark, scans } = await synced({ list: new List(sites(7)) })
    expect(list.asked).toEqual(['updatedAt 1 200'])
    expect(await watermark()).toMatchObject({
      watermark: time('01-10', 6),
      backfilled_at: time('05-01'),
      run_id: 'run-2',
    })
    expect(Number((await watermark())?.remembered_total)).toBe(7)
    expect((await watermark())?.same_rows).toMatch(/^[0-9a-f]{64}$/)
    expect(await scans()).toMatchObject([
      {
        scan_id: 'run-2-0001-sites',
        kind: 'incremental',
        from_day: null,
        to_day: null,
        scope: null,
        started_at: time('06-01'),
        service_started_at: null,
      },
    ])
  })

  test('never moves its watermark back', async () => {
    const { watermark } = await synced({ list: new List(sites(3)) })
    expect((await watermark())?.watermark).toBe(time('01-10', 4))
  })

  test('gets its first watermark when its first record with a time comes', async () => {
    const { list, watermark } = await synced(
      { list: new List(sites(3)) },
      { watermark: null, remembered_total: 0 },
      0,
    )
    expect(list.asked).toEqual(['updatedAt 1 200'])
    expect((await watermark())?.watermark).toBe(time('01-10', 2))
    const none = await synced({ list: new List() }, { watermark: null, remembered_total: 0 }, 0)
    expect((await none.watermark())?.watermark).toBeNull()
    expect(none.list.asked).toEqual(['updatedAt 1 200'])
  })

  test.each([
    ['its remembered total', 450, {}, 3],
    ['its remembered total and the size of its pages', 450, { page_size: 100 }, 5],
    ['page 1 where no total is remembered', 450, { remembered_total: null }, 1],
  ])('is read from the last page by %s', async (...[, total, parts, page]) => {
    const { list } = await synced({ list: new List(sites(450)) }, { remembered_total: total, ...parts })
    expect(list.requests[0]?.page).toBe(page)
  })

  test('ends where the lookback before its watermark is known', async () => {
    const asked = async (minute: number, lookback: number) => {
      const parts = { list: new List(sites(450)), lookbackMs: lookback * 60_000 }
      const watermark = { remembered_total: 450, watermark: time('01-10', minute) }
      return (await synced(parts, watermark)).list.asked.map(one => one.replace('updatedAt ', ''))
    }
    expect(await asked(430, 29)).toEqual(['3 200'])
    expect(await asked(430, 30)).toEqual(['3 200', '2 200', '2 200'])
  })

  test('skips the load of bytes that it has read before', async () => {
    const { list, watermark, pipeline } = await synced({ list: new List(sites(5)) })
    const same = (await watermark())?.same_rows ?? null
    expect(pipeline.batchesLoaded).toHaveLength(1)
    const second = await synced({ list }, { same_rows: same })
    expect(second.pipeline.batchesLoaded).toHaveLength(0)
    expect((await second.watermark())?.same_rows).toBe(same)
  })

  test('resumes the scan that an earlier run began, then scans again', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    await reading.setWatermark(done)
    await reading.openScan({ scan_id: 'run-1-0007-sites', kind: 'incremental' })
    await syncCollection(reading.task)
    expect((await reading.scans()).map(({ scan_id, state }) => [scan_id, state])).toEqual([
      ['run-1-0007-sites', 'accepted'],
      ['run-2-0001-sites', 'accepted'],
    ])
  })

  test("ignores the shortfall of an earlier run's scan, and reports its own", async () => {
    const list = new List(sites(5))
    const reading = await begin({ list })
    await reading.setWatermark({ ...done, hidden_rows: 0 })
    await reading.openScan({ scan_id: 'run-1-0007-sites', kind: 'incremental', attempt: 14 })
    list.instead = (_, honest, number) => ({ ...honest(), total: number === 1 ? 6 : 5 })
    await syncCollection(reading.task)
    expect((await reading.scans()).map(({ state }) => state)).toEqual(['refused', 'accepted'])
  })

  test('is read from the beginning when the key sees more than it did', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    await reading.setWatermark(done)
    await reading.openScan({ scan_id: 'run-1-0001-sites', kind: 'incremental' })
    await warehouse.engine.run(
      `insert into ops.key_scope (run_id, scope_id, api_key_id, kind, companies, agencies, scopes, observed_at)
       values ('run-1', 'x', 'k', 'agency', '[]', '[]', '[]', '${time('05-01')}')`,
    )
    await syncCollection(reading.task)
    expect(reading.list.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200'])
    expect(reading.task.counters.note).toBe('the key can see more than before: reading from the beginning')
    expect((await reading.scans())[0]).toMatchObject({
      state: 'refused',
      scope: 'read when the key saw less',
    })
    expect((await reading.watermark())?.backfilled_at).toBe(time('06-01'))
  })

  test('reads noted records after its changes, and reports the shortfall of each', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    await reading.setWatermark(done)
    await warehouse.engine.run(
      `insert into ops.unread (resource, record_id, noted_at) values ('sites', 'a', '${time('05-02')}')`,
    )
    await syncCollection(reading.task)
    expect((await reading.scans()).map(({ kind, scope }) => [kind, scope])).toEqual([
      ['incremental', null],
      ['backfill', 'noted by a sweep'],
    ])
    expect(await warehouse.rows('select * from ops.unread')).toEqual([])
  })

  test('that is refused says so', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: 6 + (number % 2) })
    const reading = await begin({ list })
    await reading.setWatermark(done)
    await expect(syncCollection(reading.task)).rejects.toThrow('saw 5 of 6')
    expect(await reading.watermark()).toMatchObject({ watermark: done.watermark })
  })
})

test('hidden rows that an operator names are not waited for: one pass of changes proves them', async () => {
  const list = new List(sites(5))
  list.instead = (_, honest) => ({ ...honest(), total: 7 })
  const { watermark } = await synced({ list, hidden: 2, lookbackMs: 86_400_000 })
  expect(list.asked).toEqual(['updatedAt 1 200'])
  expect(Number((await watermark())?.hidden_rows)).toBe(2)
})

describe('a list that the service filters by changes', () => {
  const honoured = { changes_filter: 'honoured' } as const

  test('is asked for changes from two days before the watermark on', async () => {
    const { list, watermark, scans } = await synced(
      { list: new List(sites(7)), read: changed },
      { ...honoured, remembered_total: 5 },
    )
    expect(list.asked[0]).toBe('updatedAt 1 200 from 2026-01-08')
    expect(list.requests[0]).toMatchObject({ dateField: 'updatedAt', sortBy: 'updatedAt', sortOrder: 'asc' })
    expect(await scans()).toMatchObject([{ from_day: '2026-01-08', to_day: null }])
    expect(Number((await watermark())?.remembered_total)).toBe(5)
  })

  test.each([
    ['that is not known to be honoured', changed, { changes_filter: 'ignored' }],
    ['that was never asked for', changed, {}],
    ['of a list that hides rows', changed, { ...honoured, hidden_rows: 0 }],
    ['of a list without a watermark', changed, { ...honoured, watermark: null }],
    ['that the list does not have', {}, honoured],
  ] as const)('is asked for whole by a filter %s', async (...[, read, parts]) => {
    const { list, scans } = await synced(
      { list: new List(sites(5)), read },
      { ...parts, filter_asked_at: time('06-01') },
    )
    expect(list.asked[0]).toBe('updatedAt 1 200')
    if (read === changed) expect(await scans()).toMatchObject([{ from_day: null }])
  })

  test('is asked for completely when the filter hides changes that it counts, and the filter is ignored from then on', async () => {
    const list = new List(sites(5))
    list.instead = (query, honest) => (query.from ? { ...honest(), total: 6 } : honest())
    const { watermark, scans } = await synced({ list, read: changed }, honoured)
    expect((await scans()).map(({ state, from_day }) => [state, from_day])).toEqual([
      ['refused', '2026-01-08'],
      ['accepted', null],
    ])
    expect(await watermark()).toMatchObject({ changes_filter: 'ignored', filter_asked_at: time('06-01') })
  })

  test('begins near the last page by its stored rows of those days, or of all', async () => {
    const filtered = await synced({ list: new List(sites(250)), read: changed }, honoured, 250)
    expect(filtered.list.asked[0]).toBe('updatedAt 2 200 from 2026-01-08')
    const old = { list: new List([...sites(250, '01-01', 'o'), ...sites(5)]), read: changed }
    const reading = await begin(old)
    await reading.setWatermark({ ...done, ...honoured })
    await reading.store([...sites(250, '01-01', 'o'), ...sites(5)])
    await reading.openScan({
      ...{ scan_id: 'a', kind: 'incremental', state: 'accepted' },
      ...{ accepted_at: time('05-01'), last_total: 450 },
    })
    await syncCollection(reading.task)
    expect(reading.list.asked[0]).toBe('updatedAt 1 200 from 2026-01-08')
    const whole = await synced(
      { list: new List(sites(250)), read: changed },
      { filter_asked_at: time('06-01'), changes_filter: 'ignored' },
      250,
    )
    expect(whole.list.asked[0]).toBe('updatedAt 2 200')
  })

  test('begins near the last page of the complete list by its last scan', async () => {
    const reading = await begin({ list: new List(sites(450)), read: changed })
    await reading.setWatermark({ ...done, changes_filter: 'ignored', filter_asked_at: time('06-01') })
    await reading.openScan({
      scan_id: 'a',
      kind: 'incremental',
      state: 'accepted',
      accepted_at: time('05-01'),
      last_total: 450,
    })
    await syncCollection(reading.task)
    expect(reading.list.asked[0]).toBe('updatedAt 3 200')
  })
})

describe('the days of a window', () => {
  const task = {
    resource: { read: { createdBetween: { dateField: 'createdAt' } } },
  } as unknown as Reading['task']

  test.each([
    [null, null, {}],
    ['2026-01-01', null, { dateField: 'createdAt', from: '2026-01-01' }],
    [null, '2026-01-02', { dateField: 'createdAt', to: '2026-01-02' }],
    ['2026-01-01', '2026-01-02', { dateField: 'createdAt', from: '2026-01-01', to: '2026-01-02' }],
  ])('from %s to %s are asked for', (from, to, query) => expect(daysQuery(task, { from, to })).toEqual(query))
})

describe('after its scans a list', () => {
  test('that is shown as empty is noted', async () => {
    const changes = await synced({ list: new List() }, { remembered_total: 0 })
    expect((await changes.watermark())?.empty_since).toBe(time('06-01'))
    const reading = await begin({ list: new List() })
    await reading.setWatermark({ remembered_total: 0 })
    await reading.store(sites(3))
    await syncCollection(reading.task)
    expect((await reading.watermark())?.empty_since).toBe(time('06-01'))
  })

  test('is looked at for a quarantined record', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    await reading.setWatermark(done)
    await warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('q', 'sites', 'a', 'name', 'bad', '{}', 'p', 'run-1', '${time('05-01')}')`,
    )
    await syncCollection(reading.task)
    expect(reading.landed.has('run-2-quarantine-sites')).toBe(true)
  })

  const old = { id: 'old', createdAt: time('01-01'), updatedAt: time('01-20') }
  const asksFilter = async (counters: object, watermark: object): Promise<boolean> => {
    const reading = await begin({ list: new List([old]), read: changed })
    await reading.setWatermark(watermark)
    await reading.store([old])
    Object.assign(reading.task.counters, counters)
    await syncCollection(reading.task)
    return reading.list.requests.some(({ fields }) => fields === 'id')
  }

  test.each([
    ['inserted', { rows_inserted: 1 }, true],
    ['changed', { rows_changed: 1 }, true],
    ['touched', { records_touched: 1 }, true],
    ['left alone', {}, false],
  ])('of which a record was %s is asked whether it filters: %s', async (...[, counters, expected]) => {
    expect(await asksFilter(counters, { ...done, watermark: null })).toBe(expected)
  })

  test('that was read for the first time is asked whether it filters', async () => {
    expect(await asksFilter({}, { remembered_total: 1 })).toBe(true)
  })
})
