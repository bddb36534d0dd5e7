/** A scan whose pages are landed and loaded, after an interruption or a page that cannot be loaded: what it asks for again. */
import { describe, expect, test } from 'vitest'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import { readPass } from '../../../src/sync/paging/scan.ts'
import { saveStarts } from '../../../src/sync/paging/scan-row.ts'
import { LoadedScan } from '../../../src/sync/scan/loaded-scan.ts'
import { readUntilProved } from '../../../src/sync/scan/until-proved.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { firstScan, jobOf, List, type Reading, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const known = { before: Date.parse(time('01-10', 3)), reached: Date.parse(time('01-10', 3)) }

describe('a scan that was cut off', () => {
  test('meets the pages that an earlier run landed, and forgets those of another place', async () => {
    const reading = await begin({ list: new List(sites(450)) })
    await reading.land('s', 3, 1)
    await reading.land('s', 1, 2)
    await reading.land('s', 2, 3)
    const { job } = await jobOf(reading, { beginAt: 3 })
    await readUntilProved(reading.task, job)
    expect(reading.list.asked).toEqual(['updatedAt 1 200'])
    expect(reading.landed.get('s')?.map(({ page, sequence }) => [page, sequence])).toEqual([
      [3, 1],
      [2, 3],
      [1, 4],
    ])
    expect((await firstScan(reading))?.state).toBe('accepted')
  })

  test('meets only pages that are not loaded yet', async () => {
    const reading = await begin({ list: new List(sites(450)) })
    await reading.land('s', 3, 1)
    await reading.land('s', 2, 2)
    const progress = {
      pages: 1,
      loaded_sequence: 1,
      next_page: 2,
      last_total: 450,
      first_total: 450,
    }
    await saveStarts(warehouse.engine, 's', [
      { pass: 1, front: 3, total: 450, before: null, watermark: null },
    ])
    const { job } = await jobOf(reading, { beginAt: 3 }, { scan_id: 's', ...progress })
    const strategy = await LoadedScan.open(reading.task, job)
    expect(strategy.start.sequence).toBe(1)
    await strategy.save(await readPass(strategy, strategy.start))
    expect(reading.list.asked).toEqual(['updatedAt 1 200'])
    expect(reading.landed.get('s')?.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    expect(reading.begun.get('s')).toEqual({ resource: 'sites', scope: {} })
  })

  test.each([
    ['of changes', { known }, 200],
    ['of a complete list', {}, 160],
  ])('%s in its fifth pass continues with the pages of that pass', async (...[, parts, size]) => {
    const reading = await begin({ list: new List(sites(5)) })
    const row = { scan_id: 's', attempt: 5, pass: 5, pages: 1, loaded_sequence: 5, page_size: 200 }
    const { job } = await jobOf(reading, parts, row)
    expect((await LoadedScan.open(reading.task, job)).start.pass.size).toBe(size)
  })

  test.each(['accepted', 'refused', 'scanning'] as const)(
    'and is %s by now is decided by its row',
    async state => {
      const reading = await begin({ list: new List(sites(5)) })
      const { job } = await jobOf(
        reading,
        {},
        { scan_id: 's', state, pages: 1, loaded_sequence: 1, next_page: 0 },
      )
      const strategy = await LoadedScan.open(reading.task, job)
      expect(await strategy.decide()).toBe(state === 'scanning' ? 'scan again' : state)
    },
  )

  test('and is gone is read again', async () => {
    const reading = await begin()
    const { job } = await jobOf(reading)
    const strategy = await LoadedScan.open(reading.task, job)
    await warehouse.engine.run('delete from ops.scan')
    expect(await strategy.decide()).toBe('scan again')
  })
})

describe('a page that cannot be loaded', () => {
  const unreadable = (reading: Reading, times: number) => {
    reading.pipeline.fails = ({ pages: [page] }, number) =>
      number <= times && page
        ? new PageUnreadable([{ ...page, scope: {} }], new SyntaxError('no JSON'))
        : undefined
  }

  test('is asked for again once', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    unreadable(reading, 1)
    await readUntilProved(reading.task, (await jobOf(reading)).job)
    expect(reading.list.asked).toHaveLength(2)
    expect(reading.landed.get('s')).toHaveLength(1)
  })

  test('twice ends the scan', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    unreadable(reading, 2)
    await expect(readUntilProved(reading.task, (await jobOf(reading)).job)).rejects.toMatchObject({
      message: expect.stringMatching(/^the service twice returned a page.*report it to the service/),
      cause: expect.any(PageUnreadable),
    })
    expect(reading.list.asked).toHaveLength(2)
  })

  test('leaves the passes before it as they are', async () => {
    const list = new List(sites(5))
    list.instead = (_, honest, number) => ({ ...honest(), total: number === 1 ? 6 : 5 })
    const reading = await begin({ list })
    reading.pipeline.fails = ({ pages: [page] }, number) =>
      number === 2 && page
        ? new PageUnreadable([{ ...page, scope: {} }], new SyntaxError('no JSON'))
        : undefined
    await readUntilProved(reading.task, (await jobOf(reading, { hiddenRows: 0 })).job)
    expect(await firstScan(reading)).toMatchObject({ state: 'accepted', attempt: 2 })
    expect(reading.landed.get('s')?.map(({ sequence }) => sequence)).toEqual([1, 2])
  })

  test('another failure ends the scan immediately', async () => {
    const reading = await begin({ list: new List(sites(5)) })
    reading.pipeline.fails = () => new Error('disk full')
    await expect(readUntilProved(reading.task, (await jobOf(reading)).job)).rejects.toThrow('disk full')
    expect(reading.list.asked).toHaveLength(1)
  })

  test('stops the reading before the next page', async () => {
    const reading = await begin({ list: new List(sites(450)) })
    const { job } = await jobOf(reading, { beginAt: 3 })
    const strategy = await LoadedScan.open(reading.task, job)
    reading.pipeline.fails = () => new Error('disk full')
    const page = await strategy.ask(3, strategy.start)
    await strategy.keep(page, strategy.start)
    await strategy.handOver(strategy.start)
    await expect(strategy.ask(2, strategy.start)).rejects.toThrow('disk full')
    expect(reading.list.asked).toEqual(['updatedAt 3 200'])
  })
})
