/** The first reading of a list: what is measured, which windows are read, and when the watermark is set. */
import { describe, expect, test } from 'vitest'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { backfill } from '../../../src/sync/scan/backfill.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { List, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const byDays = { createdBetween: { dateField: 'createdAt' } }
/** A list of 60 pages by its total, of which a few are there. */
const long = (list: List): List => {
  list.instead = (query, honest) => (query.limit === 20 ? { ...honest(), total: 12_000 } : honest())
  return list
}

describe('a short list', () => {
  test('is read completely from its last page, which one request finds', async () => {
    const { task, list, watermark, scans } = await begin({ list: new List(sites(205)), read: byDays })
    await backfill(task)
    expect(list.asked).toEqual(['updatedAt 1 20', 'updatedAt 2 200', 'updatedAt 1 200'])
    expect(list.requests[0]).toMatchObject({ sortOrder: 'desc' })
    expect(await watermark()).toMatchObject({
      ...{ watermark: time('01-10', 204), pending_watermark: null, earliest_day: null, run_id: 'run-2' },
      ...{ backfilled_at: time('06-01'), moved_at: time('06-01') },
    })
    expect(Number((await watermark())?.remembered_total)).toBe(205)
    expect(await scans()).toMatchObject([
      { state: 'accepted', from_day: null, to_day: null, kind: 'backfill' },
    ])
    expect(task.counters.requests).toBe(3)
  })

  test('that is empty is asked for once, unless it had rows just before', async () => {
    const empty = await begin({ list: new List() })
    await backfill(empty.task)
    expect(empty.list.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200'])
    expect(await empty.watermark()).toMatchObject({ watermark: null, backfilled_at: time('06-01') })
    const emptied = new List()
    emptied.instead = (query, honest) => (query.limit === 20 ? { rows: [], total: 5 } : honest())
    const { task } = await begin({ list: emptied })
    await backfill(task)
    expect(emptied.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200', 'updatedAt 1 200'])
  })

  test.each([
    ['of 50 pages is not cut into windows', 10_000, byDays, null],
    ['of 51 pages is', 10_001, byDays, '2026-01-10'],
    ['of 51 pages without a filter of days is not', 10_001, {}, null],
  ])('%s', async (...[, total, read, earliest]) => {
    const list = new List(sites(3))
    list.instead = (query, honest) => {
      if (query.limit !== 20) throw new Error('measured')
      return { ...honest(), total }
    }
    const { task, watermark } = await begin({ list, read })
    await expect(backfill(task)).rejects.toThrow('measured')
    expect(await watermark()).toMatchObject({ earliest_day: earliest })
    expect(Number((await watermark())?.remembered_total)).toBe(total)
  })
})

test('a list of which an operator names the hidden rows is proved by one pass', async () => {
  const list = new List(sites(5))
  list.instead = (_, honest) => ({ ...honest(), total: 7 })
  const { task, watermark } = await begin({ list, hidden: 2 })
  await backfill(task)
  expect(list.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200'])
  expect(await watermark()).toMatchObject({ backfilled_at: time('06-01') })
})

describe('a long list', () => {
  const records = [...sites(4, '01-10', 'a'), ...sites(3, '05-01', 'b')]

  test('is measured by its newest change and its oldest record, before its windows are read', async () => {
    const { task, list, watermark, scans } = await begin({ list: long(new List(records)), read: byDays })
    list.records.push({ id: 'far', createdAt: time('05-01'), updatedAt: '9999-01-01T00:00:00.000Z' })
    await backfill(task)
    expect(list.asked.slice(0, 2)).toEqual(['updatedAt 1 20', 'createdAt 1 20'])
    expect(list.requests[1]).toMatchObject({ sortOrder: 'asc' })
    expect(await watermark()).toMatchObject({
      ...{ watermark: time('05-01', 2), pending_watermark: null, earliest_day: '2026-01-10' },
      backfilled_at: time('06-01'),
    })
    expect(Number((await watermark())?.remembered_total)).toBe(12_000)
    expect((await scans()).map(({ from_day, to_day, state }) => [from_day, to_day, state])).toEqual([
      ['2026-02-03', null, 'accepted'],
      [null, '2026-02-05', 'accepted'],
    ])
  })

  test('reports the pages of all windows', async () => {
    const { task, events } = await begin({ list: long(new List(records)), read: byDays })
    await backfill(task)
    const seen = events.map(({ pagesDone, pagesTotal }) => [pagesDone, pagesTotal])
    expect(seen).toEqual([
      [1, 60],
      [2, 60],
    ])
  })

  test('is incomplete where its first pass contradicts itself, in its words, and its other windows are read', async () => {
    const list = long(new List(records))
    const measured = list.instead
    list.instead = (query, honest, number) =>
      query.from ? { ...honest(), total: 2 } : measured(query, honest, number)
    const { task, scans, watermark } = await begin({ list, read: byDays })
    await expect(backfill(task)).rejects.toThrow(
      /^sites \(saw \d of \d\) incomplete: page 1 showed 3 rows of a list of 2: everything read so far is loaded/,
    )
    expect((await scans()).map(({ state }) => state)).toEqual(['refused', 'accepted'])
    expect(await watermark()).toMatchObject({ backfilled_at: null })
  })

  test('that shows no record when it is measured is read in one window', async () => {
    const empty = await begin({ list: long(new List()), read: byDays })
    await backfill(empty.task)
    expect(await empty.scans()).toMatchObject([{ from_day: null, to_day: null, state: 'accepted' }])
    expect(await empty.watermark()).toMatchObject({ earliest_day: null, watermark: null })
  })
})

test.each([
  ['without a created time', 'createdAt', { earliest_day: null, watermark: time('01-10', 2) }],
  ['without a time of change', 'updatedAt', { earliest_day: '2026-01-10', watermark: time('01-10', 2) }],
])('a long list that is measured %s is read in one window', async (...[, sortBy, expected]) => {
  const list = new List(sites(3))
  list.instead = (query, honest) =>
    query.limit !== 20 ? honest() : { rows: query.sortBy === sortBy ? [] : honest().rows, total: 12_000 }
  const { task, scans, watermark } = await begin({ list, read: byDays })
  await backfill(task)
  expect(await scans()).toMatchObject([{ from_day: null, to_day: null, state: 'accepted' }])
  expect(await watermark()).toMatchObject(expected)
})

test('the newest change is measured by the time that the resource declares', async () => {
  const list = new List([{ id: 'a', createdAt: time('02-01'), updatedAt: time('05-01') }])
  list.instead = (query, honest) => {
    if (query.limit !== 20) throw new Error('measured')
    return { ...honest(), total: 12_000 }
  }
  const { task, watermark } = await begin({ list, read: byDays })
  const resource = { ...task.resource, updatedAt: 'createdAt' }
  await expect(backfill({ ...task, resource })).rejects.toThrow('measured')
  expect((await watermark())?.pending_watermark).toBe(time('02-01'))
})

test('the pages of a pass are loaded before its window is decided', async () => {
  const { task, pipeline, scans } = await begin({ list: new List(sites(5)) })
  const load = pipeline.load.bind(pipeline)
  const waiting: Parameters<typeof load>[0][] = []
  pipeline.load = async batch => void waiting.push(batch)
  pipeline.drained = async () => {
    for (const batch of waiting.splice(0)) await load(batch)
  }
  await backfill(task)
  expect(pipeline.batchesLoaded).toHaveLength(1)
  expect(await scans()).toMatchObject([{ state: 'accepted', attempt: 1 }])
})

describe('a backfill that an earlier run began', () => {
  const open = { pending_watermark: time('05-02'), remembered_total: 12_000, earliest_day: '2026-01-10' }
  const newest = { scan_id: 'run-1-0001-sites', from_day: '2026-04-01', pages: 1 }
  const records = [...sites(4, '01-10', 'a'), ...sites(3, '05-01', 'b')]

  test('goes on with the windows that are not planned yet', async () => {
    const { task, list, setWatermark, openScan, watermark, scans } = await begin({
      list: new List(records),
      read: byDays,
    })
    await setWatermark(open)
    await openScan({ ...newest, state: 'accepted' })
    await backfill(task)
    expect(list.asked).toEqual(['updatedAt 1 200 to 2026-04-03'])
    expect(await watermark()).toMatchObject({ watermark: time('05-02'), backfilled_at: time('06-01') })
    expect(await scans()).toHaveLength(2)
  })

  test('counts the pages of its other windows as done, and those of a window once', async () => {
    const reading = await begin({ list: new List(records), read: byDays })
    await reading.setWatermark(open)
    await reading.openScan({ ...newest, pages: 7, state: 'accepted' })
    const cutOff = { scan_id: 'run-1-0002-sites', from_day: '2026-02-01', to_day: '2026-04-03' }
    await reading.openScan({ ...cutOff, pages: 3, loaded_sequence: 3 })
    await backfill(reading.task)
    expect(reading.events.map(({ pagesDone }) => pagesDone)).toEqual([8, 9])
  })

  test.each([
    ['', undefined, ['updatedAt 1 200']],
    [', also where --max-deletions is given but the list has rows', 1000, ['1 1', 'updatedAt 1 200']],
  ])('continues a window behind its last commit%s', async (...[, most, asked]) => {
    const list = new List(sites(250))
    const { task, scans } = await begin({ list, ...(most !== undefined && { most }) })
    list.instead = (query, honest) => {
      if (query.page === 1 && query.limit === 200) throw new Error('cut off')
      return honest()
    }
    await expect(backfill(task)).rejects.toThrow('cut off')
    list.instead = (_, honest) => honest()
    list.requests.length = 0
    await backfill(task)
    expect(list.asked).toEqual(asked)
    expect(await scans()).toMatchObject([{ state: 'accepted', attempt: 1 }])
  })

  test('reads windows that are not planned yet, also while an earlier one is refused', async () => {
    const list = new List(records)
    list.instead = (query, honest, number) =>
      query.from ? { ...honest(), total: honest().total + 1 + (number % 2) } : honest()
    const { task, setWatermark, openScan, scans } = await begin({ list, read: byDays })
    await setWatermark(open)
    await openScan({ ...newest, run_id: 'run-2' })
    await expect(backfill(task)).rejects.toThrow('sites (saw 3 of 4) incomplete')
    expect((await scans()).map(({ from_day, state }) => [from_day, state])).toEqual([
      ['2026-04-01', 'refused'],
      [null, 'accepted'],
    ])
  })

  test('reads windows that were cut off or refused first, the refused one from its beginning', async () => {
    const { task, list, setWatermark, openScan, scans } = await begin({
      list: new List(records),
      read: byDays,
    })
    await setWatermark(open)
    await openScan({
      ...newest,
      state: 'refused',
      attempt: 14,
      pass: 14,
      next_page: 0,
      pages: 3,
      loaded_sequence: 9,
    })
    await openScan({ scan_id: 'run-1-0002-sites', from_day: null, to_day: '2026-04-03', state: 'accepted' })
    await addIds(warehouse.engine, [
      {
        ...{ scan_id: newest.scan_id, record_id: 'of the refused scan', first_pass: 1, last_pass: 14 },
        ...{ front_pass: 14, existed_at: 1, changed_at: 1, created_at: null, updated_at: null },
      },
    ])
    await backfill(task)
    expect(Number((await scans())[0]?.distinct_ids)).toBe(3)
    expect(list.asked).toEqual(['updatedAt 1 200 from 2026-04-01'])
    expect(await scans()).toMatchObject([
      { state: 'accepted', attempt: 1, pass: 1, run_id: 'run-2' },
      { state: 'accepted', run_id: 'run-1' },
    ])
  })

  test('stays open while a window is refused: the others are read, and it is said in the end', async () => {
    const list = new List(records)
    list.instead = (query, honest, number) =>
      query.from ? { ...honest(), total: honest().total + 1 + (number % 2) } : honest()
    const { task, setWatermark, openScan, watermark, scans } = await begin({ list, read: byDays })
    await setWatermark(open)
    await openScan({ ...newest, run_id: 'run-2' })
    await openScan({ scan_id: 'run-1-0002-sites', from_day: null, to_day: '2026-04-03' })
    await expect(backfill(task)).rejects.toThrow('sites (saw 3 of 4) incomplete')
    expect((await scans()).map(({ state }) => state)).toEqual(['refused', 'accepted'])
    expect(await watermark()).toMatchObject({ backfilled_at: null, watermark: null })
  })

  test('that is complete is not read again', async () => {
    const { task, list, setWatermark, openScan } = await begin({ list: new List(records), read: byDays })
    await setWatermark({ ...open, backfilled_at: time('05-03') })
    await openScan({ ...newest, state: 'accepted' })
    await backfill(task)
    expect(list.asked).toEqual([])
  })

  test('stops at the first window when the complete list is shown as empty', async () => {
    const { task, list, setWatermark, openScan, scans } = await begin({ list: new List(), read: byDays })
    await setWatermark(open)
    await openScan(newest)
    await openScan({ scan_id: 'run-1-0002-sites', from_day: null, to_day: '2026-04-03' })
    await expect(backfill(task)).rejects.toMatchObject({
      message: expect.stringContaining('the service returns an empty list'),
    })
    expect(list.asked).toEqual(['updatedAt 1 200 from 2026-04-01', '1 1'])
    expect((await scans()).map(({ state }) => state)).toEqual(['scanning', 'scanning'])
  })

  test('takes an empty list that --max-deletions allows for empty, and reads its windows from the beginning', async () => {
    const { task, setWatermark, openScan, watermark, scans } = await begin({
      list: new List(),
      read: byDays,
      most: 12_000,
    })
    await setWatermark(open)
    await openScan({
      ...newest,
      attempt: 3,
      pass: 3,
      pages: 1,
      loaded_sequence: 5,
      next_page: 1,
      last_total: 3,
    })
    await openScan({ scan_id: 'run-1-0002-sites', from_day: null, to_day: '2026-04-03' })
    await backfill(task)
    expect(await watermark()).toMatchObject({ backfilled_at: time('06-01') })
    expect(await scans()).toMatchObject([
      { state: 'accepted', attempt: 1 },
      { state: 'accepted', attempt: 1 },
    ])
  })
})

describe('a page that cannot be loaded', () => {
  test('ends the reading of new windows, and is asked for again', async () => {
    const { task, list, pipeline, watermark } = await begin({ list: new List(sites(5)) })
    pipeline.fails = ({ pages: [page] }, number) =>
      number === 1 && page
        ? new PageUnreadable([{ ...page, scope: {} }], new SyntaxError('no JSON'))
        : undefined
    await backfill(task)
    expect(list.asked).toEqual(['updatedAt 1 20', 'updatedAt 1 200', 'updatedAt 1 200'])
    expect(pipeline.batchesLoaded).toHaveLength(2)
    expect(pipeline.readAgain.has(pipeline.batchesLoaded[1]?.pages[0] as never)).toBe(true)
    expect(await watermark()).toMatchObject({ backfilled_at: time('06-01') })
  })

  test('delays the windows that are not planned yet; they are read after it', async () => {
    const list = new List([...sites(4, '01-10', 'a'), ...sites(3, '05-20', 'b')])
    list.instead = (query, honest) => (query.limit === 20 ? { ...honest(), total: 4_000_000 } : honest())
    const { task, pipeline, scans, watermark } = await begin({ list, read: byDays })
    pipeline.fails = ({ pages: [page] }, number) =>
      number === 1 && page
        ? new PageUnreadable([{ ...page, scope: {} }], new SyntaxError('no JSON'))
        : undefined
    await backfill(task)
    expect((await scans()).map(({ from_day, state }) => [from_day, state])).toEqual([
      ['2026-05-04', 'accepted'],
      ['2026-01-14', 'accepted'],
      [null, 'accepted'],
    ])
    expect(await watermark()).toMatchObject({ backfilled_at: time('06-01') })
  })

  test('of a pass that contradicts itself is asked for again, and what it said is forgotten where that is accepted', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) =>
      number === 2 || number === 3 ? { ...honest(), total: 4 } : honest()
    const { task, pipeline, scans } = await begin({ list })
    pipeline.fails = ({ pages: [page] }, number) =>
      number === 1 && page
        ? new PageUnreadable([{ ...page, scope: {} }], new SyntaxError('no JSON'))
        : undefined
    await backfill(task)
    expect(list.requests).toHaveLength(4)
    expect(await scans()).toMatchObject([{ state: 'accepted' }])
  })

  test('ends the sync when it fails for another reason', async () => {
    const { task, pipeline } = await begin({ list: new List(sites(5)) })
    pipeline.fails = () => new Error('disk full')
    await expect(backfill(task)).rejects.toThrow('disk full')
  })
})
