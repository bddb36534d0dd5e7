/** A scan whose pages are landed and loaded: what it asks, what it hands over, what is resumed, and what its row says in the end. */
import { describe, expect, test } from 'vitest'
import { readPass } from '../../../src/sync/paging/scan.ts'
import type { LoadedScanJob } from '../../../src/sync/scan/loaded-scan.ts'
import { LoadedScan } from '../../../src/sync/scan/loaded-scan.ts'
import { digestOf } from '../../../src/sync/scan/same-rows.ts'
import { HiddenByFilter, readUntilProved } from '../../../src/sync/scan/until-proved.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { firstScan, jobOf, List, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const known = { before: Date.parse(time('01-10', 3)), reached: Date.parse(time('01-10', 3)) }

/** Days that are read again: the watermark stays where it is. */
const askedFor = { scan_id: 's', scope: 'asked for' }
const ofChanges = { scan_id: 's', kind: 'incremental' } as const

describe('an accepted scan', () => {
  test('is written down with what it saw, and its ids are forgotten', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    const { job } = await jobOf(reading)
    await readUntilProved(reading.task, job)
    const { remembered_total: total, ...moved } = (await reading.watermark()) ?? {}
    expect(moved).toMatchObject({
      watermark: time('01-10', 4),
      backfilled_at: time('06-01'),
      same_rows: null,
    })
    expect(Number(total)).toBe(5)
    const row = await firstScan(reading)
    expect(row).toMatchObject({
      state: 'accepted',
      attempt: 1,
      accepted_at: time('06-01'),
      first_watermark: time('01-10', 4),
    })
    expect([row?.distinct_ids, row?.expected_ids, row?.last_total, row?.next_page].map(Number)).toEqual([
      5, 5, 5, 0,
    ])
    expect(
      await warehouse.rows('select * from ops.scan_id union all by name select * from ops.scan_pass'),
    ).toEqual([])
  })

  test('teaches the next one the size of pages and hidden rows, where the list has a watermark', async () => {
    const list = new List(sites(12))
    list.instead = query => {
      const page = Number(query.page)
      return { rows: list.records.slice((page - 1) * 5, page * 5), total: 12, limit: 5 }
    }
    const reading = await begin({ list })
    await reading.setWatermark({ watermark: time('01-01') })
    const { job } = await jobOf(reading, {}, askedFor)
    await readUntilProved(reading.task, job)
    expect(Number((await reading.watermark())?.page_size)).toBe(5)
    expect(await reading.watermark()).toMatchObject({ hidden_rows: null, watermark: time('01-01') })
    expect(reading.task.counters.note).toBe('the service returns at most 5 records a page')
  })

  test('says how many rows the service hides, once passes over pages of two sizes show the same', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest) => ({ ...honest(), total: honest().total === 0 ? 0 : 6 })
    const reading = await begin({ list })
    await reading.setWatermark({ page_size: 200 })
    const { job } = await jobOf(reading, { pageSize: 200 })
    await readUntilProved(reading.task, job)
    expect(Number((await reading.watermark())?.hidden_rows)).toBe(1)
    expect(reading.task.counters.note).toBe('the service counts 1 record that it shows on no page')
    expect((await firstScan(reading))?.attempt).toBe(5)
  })

  test('teaches nothing that is known, and nothing where the list has no watermark', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    await reading.setWatermark({})
    await readUntilProved(reading.task, (await jobOf(reading, {}, askedFor)).job)
    expect(await reading.watermark()).toMatchObject({ moved_at: time('05-01'), page_size: null })
    const none = await begin({ list: new List(sites(5)) })
    await readUntilProved(none.task, (await jobOf(none, { pageSize: 50 }, askedFor)).job)
    expect(await none.watermark()).toBeUndefined()
    expect(none.task.counters.note).toBeNull()
  })

  test('forgets hidden rows that are no more, and leaves the size of pages to a sweep', async () => {
    const reading = await begin({ list: new List(sites(25)) })
    await reading.setWatermark({ page_size: 10, hidden_rows: 3 })
    const { job } = await jobOf(reading, { pageSize: 10, hiddenRows: 3 })
    await readUntilProved(reading.task, job)
    expect(Number((await reading.watermark())?.page_size)).toBe(10)
    expect(await reading.watermark()).toMatchObject({ hidden_rows: null })
  })
})

describe('a refused scan', () => {
  test('reports its shortfall and the number of passes', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: 6 + (number % 2) })
    const reading = await begin({ list })
    const { job } = await jobOf(reading)
    await expect(readUntilProved(reading.task, job)).rejects.toThrow(
      /saw 5 of 6\) incomplete: the list did not show more in \d+ passes/,
    )
    expect(await reading.watermark()).toBeUndefined()
    expect(await firstScan(reading)).toMatchObject({ state: 'refused', accepted_at: null })
    expect(await warehouse.rows('select * from ops.scan_id')).toEqual([])
  })

  test('with a filter that hides rows says so', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest) => ({ ...honest(), total: 6 })
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { isFiltered: true })
    await expect(readUntilProved(reading.task, job)).rejects.toBeInstanceOf(HiddenByFilter)
    const whole = await begin({ list })
    const { job: unfiltered } = await jobOf(whole)
    await readUntilProved(whole.task, unfiltered)
    expect((await firstScan(whole))?.state).toBe('accepted')
  })

  test('with a filter that hides none is refused as any other', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: 6 + (number % 2) })
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { isFiltered: true })
    await expect(readUntilProved(reading.task, job)).rejects.not.toBeInstanceOf(HiddenByFilter)
  })
})

describe('passes of a scan', () => {
  test('differ in their order and in the size of their pages', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: 6 + (number % 2) })
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { hiddenRows: 0 })
    await readUntilProved(reading.task, job).catch(() => undefined)
    expect(list.asked.slice(0, 5)).toEqual([
      ...['updatedAt 1 200', 'updatedAt 1 200', 'createdAt 1 200', 'updatedAt 1 160', 'createdAt 1 160'],
    ])
  })

  test('leave their starts and ids in the ledger until the scan is decided', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest) => ({ ...honest(), total: 6 })
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { hiddenRows: 0 })
    const strategy = await LoadedScan.open(reading.task, job)
    await strategy.save(await readPass(strategy, strategy.start))
    expect(await strategy.decide()).toBe('scan again')
    expect(await warehouse.rows('select distinct record_id from ops.scan_id')).toHaveLength(5)
    expect(await warehouse.rows('select total from ops.scan_pass')).toHaveLength(1)
    const row = await firstScan(reading)
    expect(row).toMatchObject({ state: 'scanning', accepted_at: null })
    expect(
      [
        row?.attempt,
        row?.pass,
        row?.next_page,
        row?.loaded_sequence,
        row?.expected_ids,
        row?.distinct_ids,
      ].map(Number),
    ).toEqual([2, 2, 1, 1, 6, 5])
  })
})

describe('the rules of a pass', () => {
  const rules = async (attempt: number, parts: Partial<LoadedScanJob> = {}) => {
    const reading = await begin()
    const strategy = await LoadedScan.open(reading.task, (await jobOf(reading, parts)).job)
    return strategy.rules({ ...strategy.start, attempt })
  }

  test.each([
    ['a pass by change ends where it meets what is known', 1, { known }, { known, size: 200 }],
    ['a pass by creation has no such end', 5, { known }, { known: undefined, size: 200 }],
    ['a complete list has no such end, and pages of another size', 5, {}, { known: undefined, size: 160 }],
  ])('%s', async (...[, attempt, parts, expected]) => {
    const { known: end, size } = await rules(attempt, parts)
    expect({ known: end, size }).toEqual(expected)
  })

  test.each([
    ['are hidden where an earlier scan has found some', { hiddenRows: 0 }, true],
    ['are not hidden where none has', {}, false],
  ])('rows %s', async (...[, parts, expected]) => {
    expect((await rules(1, parts)).hidesRows).toBe(expected)
  })
})

describe('a scan of changes', () => {
  const changes = { known, beginAt: 1 }

  test('counts what changed, down to what is known', async () => {
    const list = new List(sites(450))
    const at = Date.parse(time('01-10', 300))
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { known: { before: at, reached: at }, beginAt: 3 }, ofChanges)
    await readUntilProved(reading.task, job)
    expect(list.asked).toEqual(['updatedAt 3 200', 'updatedAt 2 200', 'updatedAt 2 200'])
    expect(await reading.watermark()).toMatchObject({ watermark: time('01-10', 449) })
    expect(
      [(await firstScan(reading))?.distinct_ids, (await firstScan(reading))?.expected_ids].map(Number),
    ).toEqual([150, 150])
  })

  const again = async (parts: Partial<LoadedScanJob> = {}, records = sites(5)) => {
    const reading = await begin({ list: new List(records) })
    const bytes = reading.list.answer({ page: 1, limit: 200, sortBy: 'updatedAt', sortOrder: 'asc' }).bytes
    reading.list.requests.pop()
    const digest = digestOf(bytes) as string
    const { job } = await jobOf(reading, { ...changes, sameRows: new Set([digest]), ...parts }, ofChanges)
    return { reading, job, digest }
  }

  test('with the same bytes, all stored, is accepted without a load', async () => {
    const { reading, job, digest } = await again()
    await reading.store(sites(5))
    await readUntilProved(reading.task, job)
    expect(reading.pipeline.nothingNew).toEqual([5])
    expect(reading.pipeline.batchesLoaded).toEqual([])
    expect(await reading.watermark()).toMatchObject({ watermark: time('01-10', 4), same_rows: digest })
    expect((await firstScan(reading))?.state).toBe('accepted')
  })

  test.each([
    ['a row is not stored', {}, 4],
    ['the bytes are others', { sameRows: new Set(['other']) }, 5],
    ['none were remembered', { sameRows: undefined }, 5],
  ])('is loaded where %s', async (...[, parts, stored]) => {
    const { reading, job } = await again(parts as Partial<LoadedScanJob>)
    await reading.store(sites(stored))
    await readUntilProved(reading.task, job)
    expect(reading.pipeline.nothingNew).toEqual([])
    expect(reading.pipeline.batchesLoaded).toHaveLength(1)
    expect((await firstScan(reading))?.state).toBe('accepted')
  })

  test('that its rows do not prove is loaded', async () => {
    const { reading, job } = await again({ hiddenRows: 0 })
    reading.list.instead = (_, honest) => ({ ...honest(), total: 7 })
    await reading.store(sites(5))
    const strategy = await LoadedScan.open(reading.task, job)
    await strategy.save(await readPass(strategy, strategy.start))
    expect(reading.pipeline.nothingNew).toEqual([])
    expect(reading.pipeline.batchesLoaded).toHaveLength(1)
    expect(await strategy.decide()).toBe('scan again')
  })

  test.each([
    ['filtered where the list is', { isFiltered: true }, true],
    ['unfiltered where it has no filter', {}, false],
  ])('is loaded as %s', async (...[, parts, isFiltered]) => {
    const { reading, job } = await again({ sameRows: new Set(), ...parts })
    await readUntilProved(reading.task, job)
    expect(reading.pipeline.batchesLoaded[0]?.scan).toEqual({ scanId: 's', isFiltered })
  })
})

describe('an answer without rows', () => {
  const once = (first: { rows: readonly object[]; total: number }, records = sites(5)) => {
    const list = new List(records)
    list.instead = (_, honest, number) => (number === 1 ? first : honest())
    return list
  }

  test('of changes is asked for again, and only the second one is landed', async () => {
    const reading = await begin({ list: once({ rows: [], total: 0 }) })
    const { job } = await jobOf(reading, { known })
    await readUntilProved(reading.task, job)
    expect(reading.list.asked).toEqual(['updatedAt 1 200', 'updatedAt 1 200'])
    expect(reading.landed.get('s')).toHaveLength(1)
  })

  test.each([
    ['of days', { from_day: '2026-01-01' }],
    ['of a list read again', { scope: 'asked for' }],
  ])('%s is asked for again when the list has rows', async (...[, row]) => {
    const reading = await begin({ list: once({ rows: [], total: 0 }) })
    const { job } = await jobOf(reading, {}, { scan_id: 's', ...row })
    await readUntilProved(reading.task, job)
    expect(reading.list.asked).toEqual(['updatedAt 1 200', '1 1', 'updatedAt 1 200'])
  })

  test('of days ends the scan when the list is empty that had rows', async () => {
    const reading = await begin({ list: new List() })
    await reading.store(sites(3))
    const { job } = await jobOf(reading, {}, { scan_id: 's', from_day: '2026-01-01' })
    await expect(readUntilProved(reading.task, job)).rejects.toThrow('saw 0 of 3')
  })
})

describe('batches', () => {
  test('within a pass save its progress, and decide nothing', async () => {
    const reading = await begin({ list: new List(sites(450)) })
    const { job } = await jobOf(reading, { beginAt: 3 })
    const strategy = await LoadedScan.open(reading.task, job)
    const { keep } = strategy
    strategy.keep = async (page, progress) => {
      await keep.call(strategy, page, progress)
      if (page.page === 2) throw new Error('cut off')
    }
    await expect(readPass(strategy, strategy.start)).rejects.toThrow('cut off')
    expect(await firstScan(reading)).toMatchObject({
      state: 'scanning',
      attempt: 1,
      pass: 1,
      accepted_at: null,
    })
    const { pages, next_page, expected_ids } = (await firstScan(reading)) ?? {}
    expect([pages, next_page, expected_ids].map(Number)).toEqual([2, 1, 0])
    expect(await warehouse.rows('select front from ops.scan_pass')).toHaveLength(1)
    expect(await warehouse.rows('select distinct record_id from ops.scan_id')).toHaveLength(250)
  })

  test('of a pass are handed over when they are full, and say how far it is', async () => {
    const list = new List(sites(1))
    list.instead = () => ({ rows: list.records, total: 401 })
    const reading = await begin({ list })
    const { job } = await jobOf(reading, { pagesBefore: 4, pagesInAll: 3, beginAt: 3 })
    const strategy = await LoadedScan.open(reading.task, job)
    const page = await strategy.ask(3, strategy.start)
    const keep = (nextPage: number, landed = page.landed) => {
      const pass = { ...strategy.start.pass, nextPage, pages: 2, lastTotal: 401 }
      return strategy.keep({ ...page, landed }, { ...strategy.start, pass })
    }
    await keep(2)
    expect(reading.events.at(-1)).toMatchObject({
      resource: 'sites',
      state: 'scanning',
      pagesDone: 6,
      pagesTotal: 7,
      rows: 0,
      requests: 1,
    })
    const huge = { ...page.landed, bytes: 45_000_000 }
    expect(reading.pipeline.batchesLoaded).toHaveLength(0)
    await keep(1, huge)
    expect(reading.pipeline.batchesLoaded).toHaveLength(1)
    await keep(0, huge)
    expect(reading.pipeline.batchesLoaded).toHaveLength(2)
    for (let count = 0; count < 4; count += 1) await keep(1)
    expect(reading.pipeline.batchesLoaded).toHaveLength(2)
    await keep(1, huge)
    expect(reading.pipeline.batchesLoaded).toHaveLength(2)
    await keep(2, huge)
    expect(reading.pipeline.batchesLoaded).toHaveLength(3)
    await strategy.handOver(strategy.start)
    expect(reading.pipeline.batchesLoaded).toHaveLength(3)
  })
})
