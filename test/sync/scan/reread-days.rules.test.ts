/** Days that are read again: which, in which scans, and when the noted records are forgotten. */
import { describe, expect, test } from 'vitest'
import { readBetween, readNoted } from '../../../src/sync/scan/reread-days.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { List, type Reading, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const byDays = { createdBetween: { dateField: 'createdAt' } }

const note = (id: string, created: string | null) =>
  warehouse.engine.run(
    `insert into ops.unread (resource, record_id, created_at, updated_at, noted_at)
     values ('sites', '${id}', ${created === null ? 'null' : `'${created}'`}, '${time('05-01')}', '${time('05-02')}')`,
  )
const noted = async () =>
  (await warehouse.rows('select record_id as id from ops.unread order by 1')).map(one => one.id)
const asked = { from_day: '2026-01-08', to_day: '2026-01-12', scope: 'asked for' }

describe('days that are asked for', () => {
  test('are read with two more on either side, and leave the watermark', async () => {
    const { task, list, watermark, setWatermark, scans } = await begin({
      list: new List(sites(3)),
      read: byDays,
    })
    await setWatermark({ watermark: time('03-01'), page_size: 100 })
    await readBetween(task, time('01-10'), time('01-10'))
    expect(list.asked).toEqual(['updatedAt 1 100 from 2026-01-08 to 2026-01-12'])
    expect(list.requests[0]).toMatchObject({ dateField: 'createdAt' })
    expect(await watermark()).toMatchObject({ watermark: time('03-01') })
    expect(await scans()).toMatchObject([{ ...asked, kind: 'backfill', state: 'accepted' }])
  })

  test('are the complete list where it has no filter of days', async () => {
    const { task, list, scans } = await begin({ list: new List(sites(3)) })
    await readBetween(task, time('01-10'), time('01-10'))
    expect(list.asked).toEqual(['updatedAt 1 200'])
    expect(await scans()).toMatchObject([{ from_day: null, to_day: null, scope: 'asked for' }])
  })

  test('are proved by one pass where an operator names the rows that are hidden', async () => {
    const list = new List(sites(3))
    list.instead = (_, honest) => ({ ...honest(), total: 4 })
    const { task, setWatermark, scans } = await begin({ list, read: byDays, hidden: 1 })
    await setWatermark({ watermark: time('03-01') })
    await readBetween(task, time('01-10'), time('01-10'))
    expect(list.asked).toEqual(['updatedAt 1 200 from 2026-01-08 to 2026-01-12'])
    expect(await scans()).toMatchObject([{ state: 'accepted' }])
  })

  const cutOff = async (
    parts: Partial<Parameters<Reading['openScan']>[0]> = {},
    landed = true,
    now = time('06-01'),
  ) => {
    const reading = await begin({ list: new List(sites(3)), read: byDays, now })
    await reading.openScan({ scan_id: 'run-1-0001-sites', ...asked, ...parts })
    if (landed) await reading.land('run-1-0001-sites', 1, 1)
    await readBetween(reading.task, time('01-10'), time('01-10'))
    return {
      asked: reading.list.asked,
      scans: (await reading.scans()).map(({ scan_id, state }) => [scan_id.slice(0, 5), state]),
    }
  }

  test('are resumed where a scan of them was cut off', async () => {
    expect(await cutOff()).toEqual({ asked: [], scans: [['run-1', 'accepted']] })
  })

  test.each([
    ['is two days old', {}, true, time('06-02')],
    ['landed no page here', {}, false, time('06-01')],
  ])('begin again where the scan %s', async (...[, parts, landed, now]) => {
    expect(await cutOff(parts, landed, now)).toMatchObject({
      scans: [
        ['run-1', 'refused'],
        ['run-2', 'accepted'],
      ],
    })
  })

  test('are resumed a moment before two days have gone', async () => {
    expect((await cutOff({}, true, time('06-01', 1439))).asked).toEqual([])
  })

  test.each([
    ['other first days', { from_day: '2026-01-07' }],
    ['other last days', { to_day: '2026-01-13' }],
    ['another reason', { scope: 'noted by a sweep' }],
  ])('begin a scan of their own beside one of %s', async (...[, parts]) => {
    expect(await cutOff(parts)).toMatchObject({
      scans: [
        ['run-1', 'scanning'],
        ['run-2', 'accepted'],
      ],
    })
  })

  test('are resumed where a scan of the complete list was cut off, if it has no filter of days', async () => {
    const reading = await begin({ list: new List(sites(3)) })
    await reading.openScan({ scan_id: 'run-1-0001-sites', scope: 'asked for' })
    await reading.land('run-1-0001-sites', 1, 1)
    await readBetween(reading.task, time('01-10'), time('01-10'))
    expect(reading.list.asked).toEqual([])
  })

  test('leave windows of the backfill alone', async () => {
    expect(await cutOff({ scope: null }, false)).toMatchObject({
      scans: [
        ['run-1', 'scanning'],
        ['run-2', 'accepted'],
      ],
    })
  })
})

describe('noted records', () => {
  test('are looked for around the days of their creation, and forgotten', async () => {
    const { task, list } = await begin({
      list: new List([...sites(3), ...sites(2, '04-10', 'b')]),
      read: byDays,
    })
    await note('a', time('01-10'))
    await note('b', time('04-10'))
    await readNoted(task)
    expect(list.asked).toEqual([
      'updatedAt 1 200 from 2026-01-08 to 2026-01-12',
      'updatedAt 1 200 from 2026-04-08 to 2026-04-12',
    ])
    expect(await noted()).toEqual([])
  })

  test.each([
    ['one of them has no day', byDays, null],
    ['the list has no filter of days', {}, time('01-10')],
  ])('are looked for in the whole list where %s', async (...[, read, created]) => {
    const { task, list, scans } = await begin({ list: new List(sites(3)), read })
    await note('a', time('01-10'))
    await note('b', created)
    await readNoted(task)
    expect(list.asked).toEqual(['updatedAt 1 200'])
    expect(list.requests[0]).not.toHaveProperty('dateField')
    expect(await scans()).toMatchObject([{ scope: 'noted by a sweep', from_day: null }])
    expect(await noted()).toEqual([])
  })

  test('stay noted while some of their days are refused; the others are read', async () => {
    const list = new List([...sites(3), ...sites(2, '04-10', 'b')])
    list.instead = (query, honest, number) =>
      query.from === '2026-01-08' ? { ...honest(), total: honest().total + 1 + (number % 2) } : honest()
    const { task, scans } = await begin({ list, read: byDays })
    await note('a', time('01-10'))
    await note('b', time('04-10'))
    await expect(readNoted(task)).rejects.toThrow('saw 3 of 4')
    expect((await scans()).map(({ state }) => state)).toEqual(['refused', 'accepted'])
    expect(await noted()).toEqual(['a', 'b'])
  })

  test('that are stored by now are forgotten without a request', async () => {
    const { task, list, store } = await begin({ list: new List(sites(3)), read: byDays })
    await store([{ id: 'a', createdAt: time('01-10'), updatedAt: time('05-01') }])
    await note('a', time('01-10'))
    await readNoted(task)
    expect(list.asked).toEqual([])
    expect(await noted()).toEqual([])
  })

  test('are not given: nothing is asked, and scans that cannot be resumed are given up', async () => {
    const { task, list, openScan, scans } = await begin({ list: new List(sites(3)), read: byDays })
    await openScan({ scan_id: 'run-1-0001-sites', ...asked })
    await openScan({ scan_id: 'run-1-0002-sites', kind: 'incremental' })
    await readNoted(task)
    expect(list.asked).toEqual([])
    expect((await scans()).map(({ state }) => state)).toEqual(['refused', 'scanning'])
  })
})
