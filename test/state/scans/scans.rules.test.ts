/** What the ledger says about scans: which ids count, which scans are given up, and since when a watermark stands. */
import { describe, expect, test } from 'vitest'
import { ledger } from '../../../src/state/ledger.ts'
import {
  addStagedIds,
  countIds,
  forgetSeen,
  keepSeenSince,
  readPasses,
  savePasses,
} from '../../../src/state/scans/scan-ids.ts'
import {
  finishedAmong,
  freshScan,
  giveUpScans,
  lastTotal,
  lastWholeTotal,
  openScan,
  readScan,
  retireScans,
  unfinishedScan,
  watermarkHistory,
} from '../../../src/state/scans/scans.ts'
import { isAnyUnread, lastSweep, noteUnreadRecords, stillUnread } from '../../../src/state/scans/sweeps.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import { figuresOf } from '../../../src/sync/paging/figures.ts'
import { beginPass } from '../../../src/sync/paging/pass-state.ts'
import { PastPasses } from '../../../src/sync/paging/past-passes.ts'
import { resourceOf, rulesWarehouse } from '../../rules-warehouse.ts'

const warehouse = rulesWarehouse()
const hour = (number: number): string => new Date(Date.UTC(2026, 2, 1, number)).toISOString()

let scans = 0
async function scanOf(parts: Partial<ScanRow>): Promise<string> {
  scans += 1
  const id = `s${scans}`
  const row = {
    scan_id: id,
    resource: `r${scans}`,
    kind: 'backfill',
    run_id: 'run',
    started_at: hour(1),
  } as const
  await openScan(warehouse.engine, freshScan({ ...row, ...parts }))
  return id
}
const stateOf = async (id: string) => (await readScan(warehouse.engine, id))?.state

interface SeenParts {
  readonly first?: number
  readonly last?: number
  readonly front?: number
  readonly existed?: number
  readonly changed?: number
}

async function saw(scanId: string, id: string, { first = 1, last = first, ...parts }: SeenParts = {}) {
  const row = {
    scan_id: scanId,
    record_id: id,
    first_pass: first,
    last_pass: last,
    created_at: null,
    updated_at: null,
  }
  const times = { existed_at: parts.existed ?? null, changed_at: parts.changed ?? null }
  await ledger(warehouse.engine)
    .insertInto('ops.scan_id')
    .values({ ...row, ...times, front_pass: parts.front ?? null })
    .execute()
}

describe('an id counts for a pass start', () => {
  test.each<[string, readonly SeenParts[], number]>([
    ['when it existed at its time', [{ first: 2, existed: 1000 }], 1],
    ['not when it existed later', [{ first: 2, existed: 1001 }], 0],
    ['not when its time is unknown', [{ first: 2 }], 0],
    ['when it was on the first page', [{ first: 2, front: 2 }], 1],
    ['not when it was on the first page of another pass', [{ first: 2, front: 3 }], 0],
    ['when an earlier pass saw it as well', [{ first: 1 }, { first: 2 }], 1],
    ['not when only earlier passes saw it', [{ first: 1, existed: 1, front: 1 }], 0],
    ['when a later pass saw it', [{ first: 3, existed: 1000 }], 1],
    [
      'by the least of its times',
      [
        { first: 2, existed: 2000 },
        { first: 3, existed: 1000 },
      ],
      1,
    ],
  ])('%s', async (_, sightings, counted) => {
    const scanId = await scanOf({})
    for (const one of sightings) await saw(scanId, 'r', one)
    expect(await countIds(warehouse.engine, { scanId, moments: [{ pass: 2, before: 1000 }] })).toMatchObject({
      ...{ ids: 1, counted: [counted] },
    })
  })

  test('by no time where that of the pass start is unknown', async () => {
    const scanId = await scanOf({})
    await saw(scanId, 'r', { first: 2, existed: 1 })
    const moments = [{ pass: 2, before: null }]
    expect(await countIds(warehouse.engine, { scanId, moments })).toMatchObject({
      counted: [0],
      inLastPass: 1,
    })
  })
})

test('below the end of a scan of changes only what changed since is counted', async () => {
  const scanId = await scanOf({})
  await saw(scanId, 'old', { existed: 1, changed: 499 })
  await saw(scanId, 'new', { existed: 1, changed: 500 })
  const base = { pass: 1, front: 1, total: 2, before: 1000, watermark: null }
  const counted = async (below: number, known?: { before: number }) => {
    const progress = { pass: { ...beginPass(1), base, below }, bases: [base], attempt: 1, sequence: 1 }
    const counting = { scanId, known, past: new PastPasses() }
    return (await figuresOf(warehouse.engine, progress, counting)).ids
  }
  expect(await counted(1, { before: 500 })).toBe(1)
  expect(await counted(0, { before: 500 })).toBe(2)
  expect(await counted(1)).toBe(2)
})

test.each([
  [true, 20],
  [false, 10],
])('a record of a list filtered by change (%s) existed at %i', async (isFiltered, existed) => {
  const scanId = await scanOf({})
  await warehouse.engine.run(
    `create or replace temp table stage_seen as select 'r' as id, 1 as first_pass, 1 as last_pass, null as front_pass, 10 as existed_at, 20 as changed_at`,
  )
  await addStagedIds(warehouse.engine, { scanId, isFiltered })
  const [row] = await warehouse.rows(`select existed_at from ops.scan_id where scan_id = '${scanId}'`)
  expect(Number(row?.existed_at)).toBe(existed)
})

test('ids that only passes before this one saw are forgotten', async () => {
  const scanId = await scanOf({})
  await saw(scanId, 'before', { first: 1, last: 2 })
  await saw(scanId, 'both', { first: 1 })
  await saw(scanId, 'both', { first: 3 })
  await saw(scanId, 'since', { first: 3 })
  await keepSeenSince(warehouse.engine, scanId, 3)
  expect(await countIds(warehouse.engine, { scanId, moments: [{ pass: 3, before: null }] })).toEqual({
    ...{ ids: 2, inLastPass: 2, counted: [1] },
  })
})

test('a scan that is decided forgets its ids and pass starts', async () => {
  const scanId = await scanOf({})
  await saw(scanId, 'r')
  await savePasses(warehouse.engine, scanId, [
    { scan_id: scanId, pass: 1, front: 1, total: 1, existed_before: null, watermark: null },
  ])
  await forgetSeen(warehouse.engine, scanId)
  expect(await readPasses(warehouse.engine, scanId)).toEqual([])
  expect((await countIds(warehouse.engine, { scanId, moments: [] })).ids).toBe(0)
})

describe('giving up', () => {
  test('refuses scans that are not decided, and leaves accepted ones', async () => {
    const open = await scanOf({ resource: 'given-up' })
    const accepted = await scanOf({ resource: 'given-up', state: 'accepted' })
    const other = await scanOf({ resource: 'given-up', kind: 'incremental' })
    expect(await giveUpScans(warehouse.engine, { resource: 'given-up', kind: 'backfill' })).toEqual([open])
    expect([await stateOf(open), await stateOf(accepted), await stateOf(other)]).toEqual([
      ...['refused', 'accepted', 'scanning'],
    ])
  })

  test('of one scan leaves it accepted when it was accepted meanwhile', async () => {
    const accepted = await scanOf({ state: 'accepted' })
    expect(await giveUpScans(warehouse.engine, { scan_id: accepted })).toEqual([])
    expect(await stateOf(accepted)).toBe('accepted')
  })

  test('retires the backfill and scans of changes of one list, and no snapshot', async () => {
    const of = { resource: 'retired' }
    const accepted = await scanOf({ ...of, state: 'accepted' })
    const changes = await scanOf({ ...of, kind: 'incremental' })
    const snapshot = await scanOf({ ...of, kind: 'snapshot' })
    await retireScans(warehouse.engine, 'retired')
    const scopes = await warehouse.rows(
      `select scan_id as id, state, scope from ops.scan where resource = 'retired' order by 1`,
    )
    expect(scopes).toEqual([
      { id: accepted, state: 'accepted', scope: 'read when the key saw less' },
      { id: changes, state: 'refused', scope: 'read when the key saw less' },
      { id: snapshot, state: 'scanning', scope: null },
    ])
  })
})

test('of scans that were cut off the newest is resumed', async () => {
  await scanOf({ resource: 'cut', started_at: hour(1) })
  const newest = await scanOf({ resource: 'cut', started_at: hour(3) })
  await scanOf({ resource: 'cut', started_at: hour(4), state: 'accepted' })
  expect((await unfinishedScan(warehouse.engine, 'cut', 'backfill'))?.scan_id).toBe(newest)
})

test('a watermark stands since the first accepted scan that found it, days read on request aside', async () => {
  const of = { resource: 'stands', first_watermark: 'w', kind: 'incremental', state: 'accepted' } as const
  const times = (started: number, accepted: number) => ({
    ...{ service_started_at: hour(started), service_accepted_at: hour(accepted) },
  })
  await scanOf({ ...of, ...times(4, 5) })
  await scanOf({ ...of, ...times(6, 7) })
  await scanOf({ ...of, ...times(1, 2), first_watermark: 'v' })
  await scanOf({ ...of, ...times(9, 1), state: 'refused' })
  await scanOf({ ...of, ...times(8, 3), scope: 'asked for' })
  await scanOf({ ...of, ...times(7, 8), kind: 'backfill' })
  const history = (resource: string, now: number) =>
    watermarkHistory(warehouse.engine, resource, { watermark: 'w', now: hour(now) })
  expect(await history('stands', 10)).toEqual({ seen: hour(5), begun: hour(6) })
  // A scan that began ahead of now was dated by a clock that was wrong.
  expect(await history('stands', 6)).toEqual({ seen: hour(5), begun: hour(6) })
  expect(await history('stands', 5)).toEqual({ seen: hour(5), begun: hour(4) })
  expect(await history('never', 10)).toEqual({ seen: undefined, begun: undefined })
})

describe('the total of a list', () => {
  const changes = { kind: 'incremental', state: 'accepted' } as const

  test('is that of its last accepted scan of changes', async () => {
    const of = { resource: 'total', ...changes }
    await scanOf({ ...of, accepted_at: hour(2), last_total: 8, greatest_total: 9, first_total: 7 })
    await scanOf({ ...of, accepted_at: hour(1), last_total: 1 })
    await scanOf({ ...of, accepted_at: hour(3), last_total: 2, state: 'refused' })
    expect(await lastTotal(warehouse.engine, 'total')).toBe(8)
    expect(await lastWholeTotal(warehouse.engine, 'total')).toBe(8)
    expect(await lastTotal(warehouse.engine, 'none')).toBeUndefined()
  })

  test('is unknown when that scan was filtered', async () => {
    await scanOf({ resource: 'filtered', ...changes, accepted_at: hour(1), from_day: '2026-01-01' })
    expect(await lastWholeTotal(warehouse.engine, 'filtered')).toBeUndefined()
  })

  test('is what the pass start found when every answer said less', async () => {
    const of = { resource: 'low', ...changes, accepted_at: hour(1) }
    await scanOf({ ...of, last_total: 8, greatest_total: 9, first_total: 10 })
    expect(await lastWholeTotal(warehouse.engine, 'low')).toBe(10)
  })
})

test('scans that are open, or of a running run, are not finished', async () => {
  const open = await scanOf({})
  const decided = await scanOf({ state: 'refused' })
  expect(await finishedAmong(warehouse.engine, [open, decided, 'run7-x'], ['run7'])).toEqual([decided])
})

describe('a record that a sweep saw', () => {
  const expenses = resourceOf('expenses')
  const at = hour(9)
  const note = (id: string, updatedAt: string) =>
    noteUnreadRecords(warehouse.engine, 'expenses', { records: [{ id, createdAt: null, updatedAt }], at })
  const unread = async () => (await stillUnread(warehouse.engine, expenses)).map(row => row.record_id).sort()

  test('stays unread until this version or a later one is stored and live', async () => {
    const stored = (id: string) => ({ id, status: 'pending', createdAt: hour(1), updatedAt: hour(5) })
    await warehouse.load(expenses, ['same', 'older', 'newer', 'deleted'].map(stored))
    await warehouse.engine.run(`update star.fact_expense set is_deleted = true where expense_id = 'deleted'`)
    await note('same', hour(5))
    await note('older', hour(6))
    await note('newer', hour(4))
    await note('deleted', hour(4))
    await note('absent', hour(1))
    expect(await isAnyUnread(warehouse.engine, 'expenses')).toBe(true)
    expect(await unread()).toEqual(['absent', 'deleted', 'older'])
    await note('absent', hour(2))
    expect(await unread()).toHaveLength(3)
  })
})

test('the last sweep is the newest accepted one, of the scope where one is asked for', async () => {
  const sweep = {
    total: 1,
    earliest_day: null,
    resource: 'swept',
    seen: 1,
    judged: 1,
    missing: 0,
    note: null,
    run_id: 'run',
    ended_at: null,
  }
  const rows = [
    { ...sweep, sweep_id: 'w1', scope_id: 'a', state: 'accepted', started_at: hour(1) },
    { ...sweep, sweep_id: 'w2', scope_id: 'b', state: 'accepted', started_at: hour(2) },
    { ...sweep, sweep_id: 'w3', scope_id: 'a', state: 'doubted', started_at: hour(3) },
  ] as const
  await ledger(warehouse.engine).insertInto('ops.sweep').values(rows).execute()
  const last = async (scope?: string) => (await lastSweep(warehouse.engine, 'swept', scope))?.sweep_id
  expect([await last(), await last('a'), await last('c')]).toEqual(['w2', 'w1', undefined])
})
