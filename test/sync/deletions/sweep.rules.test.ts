/** How a sweep reads its list: what it goes on with, what it gives up, and which windows it reads. */
import { beforeEach, describe, expect, test } from 'vitest'
import { RetriableError } from '../../../src/api/client/errors.ts'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { openSweep } from '../../../src/state/scans/sweeps.ts'
import type { ScanRow, SweepRow, WatermarkRow } from '../../../src/state/scans/tables.ts'
import { moveWatermark } from '../../../src/state/scans/watermarks.ts'
import { sweepList } from '../../../src/sync/deletions/sweep.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import {
  hour,
  type ListAnswer,
  type Request,
  rulesTasks,
  runOfScope,
  type Service,
  starRows,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'fact_expense', 'dim_user', 'fact_timesheet')
const resource = resourceOf('timesheets')
const rows = (sql: string) => warehouse.rows(sql)
const failure = new RetriableError({ request: 'GET' }, { what: 'the service failed', next: '' })

const record = (id: string, parts: object = {}) => ({
  ...{ id, createdAt: hour(-8), updatedAt: hour(-7) },
  ...parts,
})
const listOf = (...ids: readonly string[]): ListAnswer => ({
  total: ids.length,
  records: ids.map(id => record(id)),
})
/** A page of a list of these records, which may count more. */
const partOf = ({ page = 1, query }: Request, ids: readonly string[], total = ids.length): ListAnswer => {
  const limit = Number(query.limit)
  return { total, records: ids.slice((page - 1) * limit, page * limit).map(id => record(id)) }
}
/** A list that shows all these records on one page. */
const showing =
  (...ids: readonly string[]): Service =>
  ({ page }) =>
    page === undefined ? undefined : listOf(...ids)

const setUp = async (service: Service, of = resource) => {
  const task = await newTask(of, service)
  await runOfScope(warehouse, 'before', task)
  return {
    task,
    sweep: (maxDeletions?: number) => sweepList(task, maxDeletions === undefined ? {} : { maxDeletions }),
  }
}
const synced = (parts: Partial<WatermarkRow> = {}, name = 'timesheets') =>
  moveWatermark(warehouse.engine, name, {
    ...{ backfilled_at: hour(-9), run_id: 'before', moved_at: hour(-9) },
    ...parts,
  })
const sweepRow = (parts: Partial<SweepRow>): SweepRow => ({
  ...{
    sweep_id: 'left',
    resource: 'timesheets',
    scope_id: '',
    state: 'sweeping',
    started_at: hour(-2),
    ended_at: null,
  },
  ...{ earliest_day: null, run_id: 'before', total: 0, seen: 0, judged: 0, missing: 0, note: null },
  ...parts,
})
const scanRow = (parts: Partial<ScanRow>): ScanRow => ({
  ...freshScan({
    scan_id: 'left-0001',
    resource: 'timesheets',
    kind: 'sweep',
    sweep_id: 'left',
    run_id: 'before',
    started_at: hour(-2),
  }),
  ...parts,
})
const sweeps = () => rows('select sweep_id, state, note, ended_at from ops.sweep order by started_at')

beforeEach(() => synced())

describe('a sweep of a short list', () => {
  test('reads it completely, twice where it has one page, and compares it with the stored rows', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c'] })
    const { task, sweep } = await setUp(showing('a', 'b'))
    await sweep()
    expect(task.asked()).toEqual(['/timesheets 1', '/timesheets 1', '/me'])
    expect(task.requests[0]).toMatchObject({
      query: { fields: 'id,createdAt,updatedAt', sortBy: 'updatedAt', sortOrder: 'asc', page: 1, limit: 200 },
      purpose: 'reconcile',
    })
    expect(await rows('select record_id, kind from ops.evidence')).toEqual([
      { record_id: 'c', kind: 'sweep' },
    ])
    expect(
      await rows('select sweep_id, run_id, scope_id, started_at, earliest_day, state from ops.sweep'),
    ).toEqual([
      {
        ...{ sweep_id: 'this-timesheets', run_id: 'this', scope_id: task.scopeId, started_at: hour(0) },
        ...{ earliest_day: null, state: 'accepted' },
      },
    ])
    const [scan] = await rows('select * from ops.scan')
    expect(scan).toMatchObject({
      scan_id: 'this-timesheets-0001',
      kind: 'sweep',
      state: 'accepted',
      accepted_at: hour(0),
    })
    expect([scan?.distinct_ids, scan?.expected_ids].map(Number)).toEqual([2, 2])
    expect(Number((await rows('select total from ops.sweep'))[0]?.total)).toBe(2)
    expect(task.counters).toMatchObject({ note: '1 wait for more evidence', requests: 3, records_read: 4 })
    expect(task.events[0]).toEqual({
      ...{ resource: 'timesheets', state: 'scanning', pagesDone: 1, pagesTotal: 1, rows: 2, requests: 1 },
    })
  })

  test('tombstones what two sweeps have missed', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c'] })
    const { task, sweep } = await setUp(showing('a', 'b'))
    await warehouse.engine.run(
      `insert into ops.evidence (resource, record_id, kind, source, seen_at)
       values ('timesheets', 'c', 'sweep', 'before', timestamptz '${hour(-2)}')`,
    )
    await runOfScope(warehouse, 'this', task)
    await sweep()
    expect(task.counters.rows_removed).toBe(1)
  })

  test('tombstones nothing when it is implausible, and as many as --max-deletions says', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c', 'd'] })
    const { task, sweep } = await setUp(showing('a'))
    await expect(sweep()).rejects.toThrow('refusing to delete 3 of 4 timesheets at once')
    await warehouse.engine.run(`delete from ops.sweep`)
    await warehouse.engine.run(`delete from ops.scan`)
    await warehouse.engine.run(
      `insert into ops.evidence (resource, record_id, kind, source, seen_at)
       select 'timesheets', timesheet_id, 'sweep', 'before', timestamptz '${hour(-2)}' from star.fact_timesheet where timesheet_id <> 'a'`,
    )
    await runOfScope(warehouse, 'this', task)
    await sweep(3)
    expect(task.counters.rows_removed).toBe(3)
  })

  test('of a list that was not read yet asks for nothing', async () => {
    await synced({ backfilled_at: null })
    const { task, sweep } = await setUp(showing('a'))
    await sweep()
    expect(task.requests).toEqual([])
    expect(task.counters.note).toMatch(/not synced yet/)
  })

  test('begins at the last page of as many rows as are stored', async () => {
    const ids = Array.from({ length: 201 }, (_, n) => `e${n}`)
    await starRows(warehouse, { resource, ids })
    const { task, sweep } = await setUp(({ page = 0 }) =>
      page > 0
        ? { total: 201, records: ids.slice((page - 1) * 200, page * 200).map(id => record(id)) }
        : undefined,
    )
    await sweep()
    expect(task.asked()).toEqual(['/timesheets 2', '/timesheets 1', '/me'])
    expect(task.events.map(({ pagesDone, pagesTotal }) => [pagesDone, pagesTotal])).toEqual([
      [1, 2],
      [2, 2],
    ])
  })
})

describe('a page of a sweep', () => {
  test('whose body contradicts its edges is asked for again', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b'] })
    let requests = 0
    const { task, sweep } = await setUp(({ page }) => {
      requests += 1
      if (page === undefined) return undefined
      return requests === 1 ? { ...listOf('a', 'b'), failure } : listOf('a', 'b')
    })
    await sweep()
    expect(task.asked()).toEqual(['/timesheets 1', '/timesheets 1', '/timesheets 1', '/me'])
  })

  test('whose records fail in another way ends the sweep', async () => {
    const { sweep } = await setUp(({ page }) =>
      page === undefined ? undefined : { ...listOf('a'), failure: new Error('a bug') },
    )
    await expect(sweep()).rejects.toThrow('a bug')
  })
})

describe('an interrupted sweep', () => {
  const two: readonly (readonly string[])[] = [Array.from({ length: 200 }, (_, n) => `e${n}`), ['last']]
  const pageOf = (page: number): ListAnswer => ({
    total: 201,
    records: (two[page - 1] ?? []).map(id => record(id)),
  })

  test('keeps the ids of the pages that it read, with their times', async () => {
    await starRows(warehouse, { resource, ids: two.flat() })
    const { task, sweep } = await setUp(({ page = 0 }) =>
      page === 2 ? pageOf(2) : page === 1 ? failure : undefined,
    )
    await expect(sweep()).rejects.toBe(failure)
    const [id, ...others] = await rows('select * from ops.scan_id')
    expect(others).toEqual([])
    expect(id).toMatchObject({
      scan_id: 'this-timesheets-0001',
      record_id: 'last',
      created_at: hour(-8),
      updated_at: hour(-7),
    })
    const numbers = [id?.first_pass, id?.last_pass, id?.front_pass, id?.existed_at, id?.changed_at].map(
      Number,
    )
    expect(numbers).toEqual([1, 1, 1, Date.parse(hour(-8)), Date.parse(hour(-7))])
    const [scan] = await rows('select state, next_page, loaded_sequence from ops.scan')
    expect([scan?.state, Number(scan?.next_page), Number(scan?.loaded_sequence)]).toEqual(['scanning', 1, 1])
    expect((await rows('select * from ops.scan_pass')).length).toBe(1)
    expect(task.counters.records_read).toBe(1)
  })

  test('keeps a record without times as one that may be new', async () => {
    const { sweep } = await setUp(({ page = 0 }) =>
      page === 2
        ? { total: 201, records: [{ id: 'last', updatedAt: 'no time' }] }
        : page === 1
          ? failure
          : undefined,
    )
    await starRows(warehouse, { resource, ids: two.flat() })
    await expect(sweep()).rejects.toBe(failure)
    expect(await rows('select existed_at, changed_at, created_at, updated_at from ops.scan_id')).toEqual([
      { existed_at: null, changed_at: null, created_at: null, updated_at: null },
    ])
  })

  test('goes on at its next page', async () => {
    await starRows(warehouse, { resource, ids: two.flat() })
    const first = await setUp(({ page = 0 }) => (page === 2 ? pageOf(2) : failure))
    await expect(first.sweep()).rejects.toBe(failure)
    const again = await newTask(resource, ({ page = 0 }) => (page > 0 ? pageOf(page) : undefined))
    await sweepList(again, {})
    expect(again.asked()).toEqual(['/timesheets 1', '/me'])
    expect(await sweeps()).toMatchObject([{ sweep_id: 'this-timesheets', state: 'accepted' }])
  })

  test('writes its ids every 20 pages', async () => {
    await synced({ page_size: 2 })
    const counts: number[] = []
    const { sweep } = await setUp(async ({ page = 0 }) => {
      counts.push(Number((await rows('select count(*) as n from ops.scan_id'))[0]?.n))
      if (counts.length === 22) return failure
      const ids = page > 21 ? [] : [`${page} a`, `${page} b`]
      return { total: 42, limit: 2, records: ids.map(id => ({ id })) }
    })
    await expect(sweep()).rejects.toBe(failure)
    expect(counts.slice(0, 21)).toEqual(Array(21).fill(0))
    expect(counts[21]).toBeGreaterThan(36)
  })
})

describe('a sweep that an earlier run left', () => {
  const leave = async (
    { scopeId }: { readonly scopeId: string },
    sweep: Partial<SweepRow> = {},
    scan?: Partial<ScanRow>,
  ) => {
    await openSweep(warehouse.engine, sweepRow({ scope_id: scopeId, ...sweep }))
    if (scan) await openScan(warehouse.engine, scanRow(scan))
    await addIds(warehouse.engine, [
      {
        ...{
          scan_id: 'left-0001',
          record_id: 'a',
          first_pass: 1,
          last_pass: 1,
          front_pass: 1,
          existed_at: null,
        },
        ...{ changed_at: null, created_at: null, updated_at: null },
      },
    ])
  }

  test('is resumed', async () => {
    const { task, sweep } = await setUp(showing('a', 'b'))
    await leave(task)
    await sweep()
    expect(await sweeps()).toMatchObject([{ sweep_id: 'left', state: 'accepted' }])
  })

  test('with another scope is given up, and a new one begun without a word of it', async () => {
    const { task, sweep } = await setUp(showing('a', 'b'))
    await leave({ scopeId: 'another' }, {}, { state: 'accepted' })
    await sweep()
    expect(await sweeps()).toEqual([
      { sweep_id: 'left', state: 'refused', note: 'begun with a different scope', ended_at: hour(0) },
      { sweep_id: 'this-timesheets', state: 'accepted', note: null, ended_at: hour(0) },
    ])
    expect(await rows(`select * from ops.scan_id where scan_id = 'left-0001'`)).toEqual([])
    expect(task.counters.note).toBeNull()
  })

  test('with a window that was refused is given up without a request', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c'] })
    const { task, sweep } = await setUp(showing('a', 'b'))
    await leave(task, {}, { state: 'refused' })
    await expect(sweep()).rejects.toThrow('the list did not settle while it was swept')
    expect(await sweeps()).toMatchObject([{ sweep_id: 'left', state: 'refused' }])
    expect(task.asked()).toEqual([])
    expect(await rows('select * from ops.evidence')).toEqual([])
  })

  const week = -7 * 24
  const late = week - 1 / 3_600_000
  test.each([
    ['a week ago', { started_at: hour(week) }, undefined, true],
    ['earlier', { started_at: hour(late) }, undefined, false],
    ['earlier, with a window begun a week ago', { started_at: hour(late) }, { started_at: hour(week) }, true],
    ['earlier, as was its window', { started_at: hour(late) }, { started_at: hour(late) }, false],
    [
      'earlier, with a window accepted a week ago',
      { started_at: hour(late) },
      { started_at: hour(late), accepted_at: hour(week), state: 'accepted' as const },
      true,
    ],
  ])('begun %s goes on: %s', async (...[, parts, scan, isGoneOn]) => {
    const { task, sweep } = await setUp(showing('a', 'b'))
    await leave(task, parts, scan)
    await sweep()
    const [left, ...others] = await sweeps()
    expect(left).toMatchObject(
      isGoneOn
        ? { sweep_id: 'left', state: 'accepted' }
        : { state: 'refused', note: 'not continued for a week' },
    )
    expect(others).toHaveLength(isGoneOn ? 0 : 1)
  })
})

describe('a list that does not settle', () => {
  /** Counts a hundred records, and shows two others with each answer; fails after so many. */
  const restless = (maxDeletions = Number.POSITIVE_INFINITY): Service => {
    let answers = 0
    return request => {
      answers += 1
      if (request.page === undefined) return undefined
      return answers > maxDeletions ? failure : partOf(request, [`a${answers}`, `b${answers}`], 100)
    }
  }

  test('is given up: nothing is evidence, and its ids are forgotten', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c'] })
    const { task, sweep } = await setUp(restless())
    await expect(sweep()).rejects.toThrow(
      /^timesheets \(saw \d+ of 100\) incomplete: the list did not settle while it was swept/,
    )
    expect(await sweeps()).toMatchObject([
      { state: 'refused', note: 'the list did not settle', ended_at: hour(0) },
    ])
    expect(task.counters.note).toBe('the list did not settle')
    for (const table of ['evidence', 'scan_id', 'scan_pass'])
      expect(await rows(`select * from ops.${table}`)).toEqual([])
    expect(task.asked()).not.toContain('/me')
  })

  test('that settles later counts with what it shows then: one that went before is missing', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b', 'c', 'd'] })
    let isSettled = false
    const { task, sweep } = await setUp(request => {
      if (request.page === undefined) return undefined
      isSettled ||= request.query.sortBy === 'createdAt'
      return isSettled ? partOf(request, ['b', 'c', 'd']) : partOf(request, ['a', 'b'], 3)
    })
    await sweep()
    expect(await rows('select record_id from ops.evidence')).toEqual([{ record_id: 'a' }])
    expect(task.requests.some(({ query }) => query.sortBy === 'createdAt')).toBe(true)
  })

  test('is read again from the pass that was written down', async () => {
    await starRows(warehouse, { resource, ids: ['a', 'b'] })
    const { sweep } = await setUp(restless(40))
    await expect(sweep()).rejects.toBe(failure)
    const [scan] = await rows('select state, attempt, pass from ops.scan')
    expect(scan?.state).toBe('scanning')
    expect(Number(scan?.attempt)).toBeGreaterThan(1)
    expect(Number(scan?.pass)).toBe(Number(scan?.attempt))
  })
})

describe('a long list', () => {
  /** Rows of another key, so that this sweep judges none of them. */
  const many = (count: number, table = 'fact_timesheet', key = 'timesheet_id') =>
    warehouse.engine.run(
      `insert into star.${table} (${key}, run_id, loaded_at, is_deleted, row_hash${table.startsWith('dim') ? ', is_inferred' : ''})
       select 'x' || range, 'another key', timestamptz '${hour(-5)}', false, ''${table.startsWith('dim') ? ', false' : ''} from range(${count})`,
    )
  const oldest = '2026-01-01T09:00:00.000Z'
  const windows: Service = ({ page, query }: Request) => {
    if (page === undefined) return undefined
    if (query.sortBy === 'createdAt')
      return { total: 10_001, records: [record('old', { createdAt: oldest })] }
    return page === 1 ? listOf('a', 'b') : { total: 2, records: [] }
  }
  const days = () => rows('select from_day, to_day from ops.scan order by scan_id')

  test.each([
    ['of 50 pages is one window', 10_000, [{ from_day: null, to_day: null }]],
    [
      'of more is read in windows, newest first, down to the day of its oldest record',
      10_001,
      [
        { from_day: '2026-01-03', to_day: null },
        { from_day: null, to_day: '2026-01-05' },
      ],
    ],
  ])('%s', async (...[, count, expected]) => {
    await many(count)
    const { task, sweep } = await setUp(windows)
    await sweep().catch(() => undefined)
    expect(await days()).toEqual(expected)
    expect(Number((await rows('select total from ops.sweep'))[0]?.total)).toBe(2 * expected.length)
    const asked = task.requests.filter(({ query }) => query.sortBy === 'createdAt')
    expect(asked.map(({ query, purpose }) => ({ ...query, purpose }))).toEqual(
      count > 10_000
        ? [
            {
              fields: 'id,createdAt,updatedAt',
              sortBy: 'createdAt',
              sortOrder: 'asc',
              page: 1,
              limit: 20,
              purpose: 'reconcile',
            },
          ]
        : [],
    )
    expect(task.counters.requests).toBe(task.requests.length)
  })

  test('asks for the days of each window', async () => {
    await many(10_001)
    const { task, sweep } = await setUp(windows)
    await sweep().catch(() => undefined)
    const queries = task.requests
      .filter(({ query }) => query.sortBy === 'updatedAt')
      .map(({ query }) => query)
    expect(queries[0]).toMatchObject({ dateField: 'createdAt', page: 1 })
    expect(JSON.stringify(queries[0])).toContain('2026-01-03')
    expect(JSON.stringify(queries.at(-1))).toContain('2026-01-05')
    expect(queries).toHaveLength(4)
  })

  test('goes on with the window that is open', async () => {
    const { task, sweep } = await setUp(windows)
    await openSweep(
      warehouse.engine,
      sweepRow({ scope_id: task.scopeId, earliest_day: '2026-01-01', started_at: hour(-1) }),
    )
    await openScan(
      warehouse.engine,
      scanRow({ from_day: '2026-02-01', to_day: null, state: 'accepted', pages: 50 }),
    )
    await openScan(warehouse.engine, scanRow({ scan_id: 'left-0002', from_day: null, to_day: '2026-02-03' }))
    await sweep().catch(() => undefined)
    expect(await days()).toHaveLength(2)
    expect(task.requests.filter(({ page }) => page !== undefined)).toHaveLength(2)
  })

  test('of which no record has a created day is one window', async () => {
    await many(10_001)
    const { sweep } = await setUp(({ page, query, ...rest }) =>
      query.sortBy === 'createdAt' ? { total: 0, records: [] } : windows({ page, query, ...rest } as Request),
    )
    await sweep().catch(() => undefined)
    expect(await days()).toEqual([{ from_day: null, to_day: null }])
  })

  test('that has no filter by created day is one window', async () => {
    await synced({}, 'users')
    await many(10_001, 'dim_user', 'user_id')
    const { task, sweep } = await setUp(windows, resourceOf('users'))
    await sweep().catch(() => undefined)
    expect(await days()).toEqual([{ from_day: null, to_day: null }])
    expect(task.requests.every(({ query }) => query.sortBy !== 'createdAt')).toBe(true)
  })
})

describe('a list with short pages', () => {
  const ids = Array.from({ length: 150 }, (_, n) => `e${n}`)
  const pages =
    (size: number): Service =>
    ({ page = 0, query }) => {
      const rows = Math.min(size, Number(query.limit))
      return page > 0
        ? {
            total: 150,
            limit: rows,
            records: ids.slice((page - 1) * rows, page * rows).map(id => record(id)),
          }
        : undefined
    }
  const learnt = async () => (await rows('select page_size from ops.watermark'))[0]

  test.each([
    ['that have grown forgets how long they were', { page_size: 50 }, 200, true],
    ['that are as long as they were knows it', { page_size: 100 }, 100, false],
  ])('%s', async (...[, known, size, isForgotten]) => {
    await synced(known)
    await starRows(warehouse, { resource, ids })
    const { sweep } = await setUp(pages(size))
    await sweep()
    const found = await learnt()
    expect(found?.page_size === null).toBe(isForgotten)
  })

  test('asks for as many rows as a page can have, and takes pages for as long as they were', async () => {
    await synced({ page_size: 50 })
    await starRows(warehouse, { resource, ids })
    const { task, sweep } = await setUp(pages(50))
    await sweep()
    expect(task.asked()).toEqual([
      ...[
        '/timesheets 1',
        '/timesheets 1',
        '/timesheets 3',
        '/timesheets 4',
        '/timesheets 2',
        '/timesheets 1',
      ],
      '/me',
    ])
    expect(task.requests[0]?.query.limit).toBe(200)
  })
})
