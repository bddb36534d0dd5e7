/** The pages of a list: how they are asked for, when their records are read, and which are forgotten. */
import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import { knownTo } from '../../../src/sync/scan/collection.ts'
import { areRecordsNeeded } from '../../../src/sync/scan/list-pages.ts'
import { LoadedScan, type LoadedScanJob } from '../../../src/sync/scan/loaded-scan.ts'
import { forgetUnreadable, readUntilProved } from '../../../src/sync/scan/until-proved.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { pass } from '../paging/lists.ts'
import { List, readings, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const query = { sortBy: 'updatedAt', sortOrder: 'asc' }

describe('the records of a page are read', () => {
  test.each([
    ['on the first two pages of a pass', {}, 1, 1, true],
    ['not on later ones', {}, 2, 1, false],
    ['on later ones of a second attempt', {}, 2, 2, true],
    ['on later ones of a scan of changes', { known: { before: 0 } }, 2, 1, true],
    ['on later ones of a list that hides rows', { hiddenRows: 0 }, 2, 1, true],
  ])('%s', (...[, request, pages, attempt, expected]) => {
    expect(areRecordsNeeded(request, { pass: pass({ pages }), attempt })).toBe(expected)
  })
})

describe('a page', () => {
  test('may be hollow, and is behind the end where the answers agree on it', async () => {
    const { task, list, openScan } = await begin({ list: new List(sites(5)) })
    const strategy = await LoadedScan.open(task, { row: await openScan({ scan_id: 's' }), query, beginAt: 1 })
    await strategy.ask(1, { ...strategy.start, pass: pass({ lastTotal: 7, size: 200 }) })
    expect(list.options).toEqual([{ mayBeHollow: true, rows: 7 }])
  })

  test('whose records are no JSON is asked for again, and read without the broken ones then', async () => {
    const { task, list, openScan, scans, pipeline } = await begin({ list: new List(sites(5)) })
    list.broken = 2
    await readUntilProved(task, { row: await openScan({ scan_id: 's' }), query, beginAt: 1 })
    expect(list.asked).toHaveLength(2)
    expect(pipeline.batchesLoaded).toHaveLength(1)
    expect((await scans())[0]?.state).toBe('accepted')
  })
})

describe('a page of a scan', () => {
  const known = { before: Date.parse(time('01-01')) }
  /** Page 1, as a later page of the first pass, or as its first one. */
  const asked = async (
    records: number,
    { pages = 2, updatedAt, ...parts }: Partial<LoadedScanJob> & { pages?: number; updatedAt?: null } = {},
  ) => {
    const { task, openScan, list } = await begin({ list: new List(sites(records)) })
    const { updatedAt: _, ...timeless } = task.resource
    const of = updatedAt === null ? { ...task, resource: timeless } : task
    list.instead = (_, honest) => ({ ...honest(), limit: 150 })
    const job = { row: await openScan({ scan_id: 's' }), query, beginAt: 1, ...parts }
    const strategy = await LoadedScan.open(of, job)
    return strategy.ask(1, { ...strategy.start, pass: pass({ pages, size: 200 }) })
  }

  test.each([
    ['whose records are read has a number of rows', 5, 1, 5],
    ['whose records are not read has none', 5, 2, undefined],
    ['that is empty has 0, though its records are not read', 0, 2, 0],
  ])('%s', async (...[, records, pages, rows]) => {
    expect((await asked(records, { pages })).rows).toBe(rows)
  })

  test('has the total and the size of pages that the service reports', async () => {
    expect(await asked(5)).toMatchObject({ total: 5, limit: 150 })
  })

  test.each([
    ['of changes has a digest', { known }, true],
    ['of a list that is read down to page 1 has none', { pages: 0 }, false],
    ['of a list without a time of change has none', { known, updatedAt: null }, false],
  ])('%s', async (...[, parts, expected]) => {
    expect((await asked(5, parts)).digest !== undefined).toBe(expected)
  })

  test('that was landed but is gone is not asked for again', async () => {
    const { task, list, land, landed, openScan } = await begin({ list: new List(sites(5)) })
    await land('s', 1, 1)
    rmSync(landed.get('s')?.[0]?.file as string)
    const strategy = await LoadedScan.open(task, { row: await openScan({ scan_id: 's' }), query, beginAt: 1 })
    await expect(strategy.ask(1, strategy.start)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(list.asked).toEqual([])
  })
})

describe('pages of a scan after its last commit are forgotten', () => {
  const forgotten = async (file: (files: readonly string[]) => string) => {
    const { task, landed, land, openScan } = await begin({ list: new List(sites(450)) })
    const row = await openScan({ scan_id: 's', loaded_sequence: 1 })
    for (const sequence of [1, 2, 3]) await land('s', 4 - sequence, sequence)
    const files = (landed.get('s') ?? []).map(page => page.file)
    const bad = { file: file(files), page: 1 } as never
    const isOfScan = await forgetUnreadable(task, row, new PageUnreadable([bad], new SyntaxError('no JSON')))
    return [isOfScan, landed.get('s')?.map(({ sequence }) => sequence)]
  }

  test('when one of its pages cannot be loaded', async () => {
    expect(await forgotten(files => files[2] as string)).toEqual([true, [1]])
  })

  test('not for a page of another scan', async () => {
    expect(await forgotten(() => 'other')).toEqual([false, [1, 2, 3]])
  })

  test('not where the scan has no pages here', async () => {
    const { task, openScan } = await begin()
    const bad = new PageUnreadable([{ file: 'x' } as never], new SyntaxError('no JSON'))
    expect(await forgetUnreadable(task, await openScan({ scan_id: 's' }), bad)).toBe(false)
  })
})

describe('what is known of a watermark by the scans before', () => {
  const watermark = time('01-10')
  const accepted = {
    ...({ scan_id: 's', kind: 'incremental', state: 'accepted', first_watermark: watermark } as const),
    ...{ service_accepted_at: time('05-01'), service_started_at: time('05-02') },
  }
  const knownAfter = async (tells: boolean) => {
    const { task, openScan } = await begin()
    await openScan(accepted)
    if (tells) task.sync.clock.observe('Mon, 01 Jun 2026 00:00:00 GMT')
    return (await knownTo(task, watermark)).before - Date.parse(watermark)
  }

  test('is everything where the service reports its time', async () => expect(await knownAfter(true)).toBe(1))
  test('is what the lookback leaves where it does not', async () =>
    expect(await knownAfter(false)).toBe(-900_000))
})
