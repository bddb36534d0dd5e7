/** Lists shown as empty, filters that are learnt, and quarantined records that are looked for. */
import { describe, expect, test } from 'vitest'
import { MusterError } from '../../../src/lib/errors.ts'
import { learnFilter } from '../../../src/sync/scan/changes-filter.ts'
import { lookAgain } from '../../../src/sync/scan/collection.ts'
import { isAllowedEmptyList, noteEmptyList, requireRows } from '../../../src/sync/scan/empty-list.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { List, type Reading, readings, type Site, sites, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)
const changed = { changedSince: { dateField: 'updatedAt' } }
const done = { backfilled_at: time('05-01'), watermark: time('01-10', 4) }

describe('the complete list is shown as empty', () => {
  const shown = async (
    records: number,
    parts: { readonly most?: number; readonly total?: number; readonly stored?: number } = {},
  ) => {
    const { total = 0, stored = 3, ...rest } = parts
    const reading = await begin({ list: new List(sites(records)), ...rest })
    if (total > 0) await reading.setWatermark({ remembered_total: total })
    await reading.store(sites(stored))
    return reading
  }

  test('which is asked for by one id', async () => {
    const { task, list } = await shown(5)
    await requireRows(task)
    expect(list.requests).toEqual([{ fields: 'id', page: 1, limit: 1 }])
    expect(task.counters.requests).toBe(1)
  })

  test('which ends the scan, and says how to go on', async () => {
    const { task } = await shown(0)
    await expect(requireRows(task)).rejects.toThrow(
      /saw 0 of 3.*the service returns an empty list.*--max-deletions 3/s,
    )
    await expect(requireRows((await shown(0, { total: 7 })).task)).rejects.toThrow('saw 0 of 7')
    await expect(requireRows((await shown(0, { total: 2 })).task)).rejects.toThrow('saw 0 of 3')
  })

  test.each([
    [3, true],
    [2, false],
  ])('which is taken for deletions with --max-deletions %i of 3: %s', async (most, isTaken) => {
    const { task } = await shown(0, { most })
    expect(await isAllowedEmptyList(task)).toBe(isTaken)
    const reading = requireRows(task)
    await (isTaken ? expect(reading).resolves.toBeUndefined() : expect(reading).rejects.toThrow('saw 0 of 3'))
  })

  test('which --max-deletions does not say of a list with rows', async () => {
    const { task, list } = await shown(5, { most: 100 })
    expect(await isAllowedEmptyList(task)).toBe(false)
    expect(list.requests).toHaveLength(1)
    const few = await shown(5, { most: 2 })
    expect(await isAllowedEmptyList(few.task)).toBe(false)
    expect(few.list.requests).toHaveLength(0)
  })
})

describe('a list is noted as empty', () => {
  interface Case {
    readonly watermark?: Parameters<Reading['setWatermark']>[0]
    readonly read?: object
    readonly stored?: number
    readonly records?: number
    readonly lastTotal?: number
  }
  const noted = async ({ watermark = {}, read = {}, stored = 3, records = 0, lastTotal }: Case) => {
    const reading = await begin({ list: new List(sites(records)), read })
    await reading.setWatermark({ ...done, remembered_total: 0, ...watermark })
    await reading.store(sites(stored))
    if (lastTotal !== undefined)
      await reading.openScan({
        scan_id: 'a',
        kind: 'incremental',
        state: 'accepted',
        accepted_at: time('05-01'),
        last_total: lastTotal,
      })
    await noteEmptyList(reading.task)
    const row = await reading.watermark()
    return {
      since: row?.empty_since ?? null,
      moved: row?.moved_at,
      note: reading.task.counters.note,
      requests: reading.list.requests.length,
    }
  }
  const [now, before] = [time('06-01'), time('05-01')]

  test('from now on, with what to do about it', async () => {
    expect(await noted({})).toEqual({
      ...{ since: now, moved: now, requests: 0 },
      note: 'the service returns an empty list; keeping 3 stored records: if they are deleted, muster sweep sites --max-deletions 3',
    })
  })

  test.each<readonly [string, Case, string | null]>([
    ['not when it has rows', { watermark: { remembered_total: 1 } }, null],
    ['not when its total is unknown', { watermark: { remembered_total: null } }, null],
    ['not when nothing is stored', { stored: 0 }, null],
    ['not before its backfill', { watermark: { backfilled_at: null } }, null],
    ['when it has no changes and is empty', { read: changed, lastTotal: 0 }, now],
    ['not when it has no changes and has rows', { read: changed, lastTotal: 0, records: 1 }, null],
    ['not when it has changes, whatever its first total', { read: changed, lastTotal: 1 }, null],
    ['when a filtered list was empty before any scan of changes', { read: changed }, now],
  ])('%s', async (...[, parts, since]) => {
    const found = await noted(parts)
    expect(found.since).toBe(since)
    expect(found.note === null).toBe(since === null)
    expect(found.moved).toBe(since === null ? before : now)
  })

  test('since the first time', async () => {
    expect(await noted({ watermark: { empty_since: time('05-20') } })).toMatchObject({
      since: time('05-20'),
      moved: before,
    })
  })

  test.each<readonly [string, Case]>([
    ['it has rows again', { watermark: { empty_since: time('05-20'), remembered_total: 4 } }],
    ['nothing is stored any more', { watermark: { empty_since: time('05-20') }, stored: 0 }],
  ])('no more when %s', async (...[, parts]) => {
    expect(await noted(parts)).toMatchObject({ since: null, moved: now, note: null })
  })

  test('asks the service only where a filter showed no changes', async () => {
    expect((await noted({ read: changed, lastTotal: 0 })).requests).toBe(1)
    expect((await noted({ read: changed, lastTotal: 1 })).requests).toBe(0)
  })

  test('not where the list was never read', async () => {
    const { task, watermark } = await begin()
    await noteEmptyList(task)
    expect(await watermark()).toBeUndefined()
  })
})

describe('the filter by changes is learnt', () => {
  /** Created long before its change. */
  const old: Site = { id: 'old', createdAt: time('01-01'), updatedAt: time('01-20') }
  const fresh: Site[] = sites(3, '01-22', 'f')
  interface Case {
    readonly watermark?: Parameters<Reading['setWatermark']>[0]
    readonly read?: object
    readonly stored?: readonly Site[]
    readonly known?: string | null
    readonly instead?: List['instead']
  }
  const learnt = async ({
    watermark = {},
    read = changed,
    stored = [old, ...fresh],
    known,
    instead,
  }: Case = {}) => {
    const list = new List(stored)
    if (instead) list.instead = instead
    const reading = await begin({ list, read })
    await reading.setWatermark({ ...done, ...watermark })
    await reading.store(stored)
    await learnFilter(reading.task, known)
    return {
      row: await reading.watermark(),
      asked: list.asked,
      requests: list.requests,
      options: list.options,
      counters: reading.task.counters,
    }
  }
  const now = time('06-01')

  test('as honoured when it shows a record that was old when it changed', async () => {
    const { row, asked, requests, options, counters } = await learnt()
    expect(row).toMatchObject({ changes_filter: 'honoured', filter_asked_at: now })
    expect(asked).toEqual(['updatedAt 1 200 from 2026-01-18'])
    expect(requests[0]).toMatchObject({ dateField: 'updatedAt', sortOrder: 'desc', fields: 'id' })
    expect(options).toEqual([{ mayBeHollow: true }])
    expect(counters).toMatchObject({ requests: 1, note: null })
  })

  test.each<readonly [string, List['instead']]>([
    ['shows other records', () => ({ rows: fresh, total: 3 })],
    ['shows none', () => ({ rows: [], total: 0 })],
    ['shows records without ids', () => ({ rows: [{}, { id: 7 }, null as never], total: 3 })],
  ])('as ignored when it %s', async (...[, instead]) => {
    const { row, counters } = await learnt({ instead })
    expect(row).toMatchObject({ changes_filter: 'ignored', filter_asked_at: now })
    expect(counters.note).toMatch('the filter is tested again in a week')
  })

  test.each([
    ['honoured', 'a minute earlier', time('01-15', 1439)],
    ['ignored', 'then', time('01-16')],
  ])(
    'as %s when it shows a record that was created two days before its first day, or %s',
    async (...[filter, , createdAt]) => {
      const shown: Site = { id: 'shown', createdAt, updatedAt: time('01-19') }
      const { row } = await learnt({
        stored: [old, shown],
        instead: () => ({ rows: [{ id: 'shown' }], total: 1 }),
      })
      expect(row?.changes_filter).toBe(filter)
    },
  )

  const unknown = { changes_filter: null, filter_asked_at: null }

  test.each<readonly [string, Case]>([
    ['for a list without the filter', { read: {} }],
    ['before there is a watermark', { watermark: { watermark: null } }],
    ['before the backfill is complete', { watermark: { backfilled_at: null } }],
    ['where no old record changed', { stored: fresh }],
    [
      'where no record is old by the time of a filter',
      { read: { ...changed, filteredByDefault: 'loaded_at' } },
    ],
    ['where the old record changed two days before the known watermark', { known: time('01-23') }],
  ])('not %s', async (...[, parts]) => {
    const { row, asked } = await learnt(parts)
    expect(row).toMatchObject(unknown)
    expect(asked).toEqual([])
  })

  test.each([
    ['changed on the second day before the known watermark', time('01-22'), 1],
    ['changed on the third day before it', time('01-23'), 0],
  ])('from a record that %s: %i requests', async (...[, known, requests]) => {
    expect((await learnt({ known })).asked).toHaveLength(requests)
  })

  test.each([
    ['five days and a moment', time('01-14', 1439), 1],
    ['five days', time('01-15'), 0],
  ])(
    'from a record that was created %s before its change: %i requests',
    async (...[, createdAt, requests]) => {
      expect((await learnt({ stored: [{ ...old, createdAt }] })).asked).toHaveLength(requests)
    },
  )

  test.each<readonly [string, Parameters<Reading['setWatermark']>[0], number]>([
    ['honoured', { changes_filter: 'honoured', filter_asked_at: time('01-01') }, 0],
    ['ignored a week ago', { changes_filter: 'ignored', filter_asked_at: time('05-25') }, 1],
    ['ignored less than a week ago', { changes_filter: 'ignored', filter_asked_at: time('05-25', 1) }, 0],
    ['ignored at an unknown time', { changes_filter: 'ignored', filter_asked_at: null }, 1],
  ])('again where it was %s: %i requests', async (...[, watermark, requests]) => {
    expect((await learnt({ watermark })).asked).toHaveLength(requests)
  })

  test('by the page that has the record', async () => {
    const parts = { stored: [old, ...sites(199, '01-22', 'f')] }
    expect((await learnt(parts)).asked).toEqual(['updatedAt 1 200 from 2026-01-18'])
    const more = { stored: [old, ...sites(200, '01-22', 'f')] }
    expect((await learnt(more)).asked).toEqual(['updatedAt 2 200 from 2026-01-18'])
    const small = await learnt({ stored: [old, ...fresh], watermark: { page_size: 2 } })
    expect(small.asked).toEqual(['updatedAt 2 2 from 2026-01-18'])
    expect(small.row?.changes_filter).toBe('honoured')
  })

  test('not from a request that fails', async () => {
    const instead = () => {
      throw new MusterError({ what: 'refused', where: 'sites', next: 'wait' })
    }
    expect((await learnt({ instead })).row).toMatchObject(unknown)
    await expect(
      learnt({
        instead: () => {
          throw new TypeError('broken')
        },
      }),
    ).rejects.toThrow('broken')
  })

  test('not of a list that was never read', async () => {
    const { task, list } = await begin({ read: changed })
    await learnFilter(task)
    expect(list.asked).toEqual([])
  })
})

describe('a quarantined record', () => {
  const byDays = { createdBetween: { dateField: 'createdAt' } }
  const look = async (payload: string | undefined, read: object = byDays) => {
    const reading = await begin({ list: new List(sites(3)), read })
    if (payload !== undefined)
      await warehouse.engine.run(
        `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
         values ('q', 'sites', 'a', 'name', 'bad', '${payload}', 'p', 'run-1', '${time('05-01')}')`,
      )
    await lookAgain(reading.task)
    return {
      ...reading,
      asked: reading.list.asked,
      looks: await warehouse.rows('select * from ops.quarantine_look'),
    }
  }
  const dated = `{"id":"a","createdAt":"${time('01-10')}"}`

  test('is looked for on the days around its creation, and its page is loaded for good', async () => {
    const { asked, looks, pipeline, landed, begun, task } = await look(dated)
    expect(asked).toEqual(['updatedAt 1 200 from 2026-01-09 to 2026-01-11'])
    expect(looks).toMatchObject([{ resource: 'sites', place: '2026-01-10', looked_at: time('06-01') }])
    expect(Number(looks[0]?.total)).toBe(3)
    expect(landed.get('run-2-quarantine-sites')).toMatchObject([{ page: 1, sequence: 1, runId: 'run-2' }])
    const [page] = pipeline.batchesLoaded[0]?.pages ?? []
    expect(page && pipeline.readAgain.has(page)).toBe(true)
    expect(begun.get('run-2-quarantine-sites')).toEqual({ resource: 'sites', scope: {} })
    expect(task.counters.requests).toBe(1)
  })

  test.each([
    ['it names no day', '{"id":"a"}', byDays],
    ['the list has no filter of days', dated, {}],
  ])('is looked for in the whole list where %s', async (...[, payload, read]) => {
    const { asked, list } = await look(payload, read)
    expect(asked).toEqual(['updatedAt 1 200'])
    expect(list.requests[0]).not.toHaveProperty('dateField')
  })

  test('asks for nothing where there is none', async () => {
    expect((await look(undefined)).asked).toEqual([])
  })

  test('of which the page fails to load ends the sync', async () => {
    const { task, pipeline } = await look(undefined)
    pipeline.fails = () => new Error('disk full')
    await warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('q', 'sites', 'a', 'name', 'bad', '{}', 'p', 'run-1', '${time('05-01')}')`,
    )
    await expect(lookAgain(task)).rejects.toThrow('disk full')
  })
})
