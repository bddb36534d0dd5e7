/** What the ledger says about scans: which are given up, retired, resumed and finished, and since when a watermark stands. */
import { describe, expect, test } from 'vitest'
import {
  backfillScans,
  countScans,
  finishedAmong,
  forgetScans,
  freshScan,
  giveUpScans,
  lastListTotal,
  lastTotal,
  openScan,
  openScanIds,
  openScans,
  readScan,
  retireScans,
  unfinishedScan,
  unfinishedScans,
  updateScan,
  watermarkHistory,
} from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import { hour, ledgerBench, run, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const open = (...scans: readonly ScanRow[]) => openScans(bench.engine, scans)
const statesOf = (condition = 'true') =>
  bench.column(`select scan_id || ' ' || state from ops.scan where ${condition} order by 1`)
const idsOf = (rows: readonly ScanRow[]): string[] => rows.map(row => row.scan_id)

test('a scan of which nothing is read yet has no figures, unless the facts say more', () => {
  const facts = { scan_id: 's', resource: 'r', kind: 'sweep', run_id: 'run', started_at: hour(1) } as const
  const untold = ['sweep_id', 'from_day', 'to_day', 'scope', 'page_size', 'first_watermark']
  const times = ['accepted_at', 'service_started_at', 'service_accepted_at']
  const zero = ['loaded_sequence', 'pages', 'first_total', 'last_total', 'expected_ids']
  const row = {
    ...facts,
    ...Object.fromEntries([...untold, ...times].map(name => [name, null])),
    ...Object.fromEntries([...zero, 'distinct_ids'].map(name => [name, 0])),
    ...{ state: 'scanning', attempt: 1, pass: 1, next_page: 1 },
  }
  expect(freshScan(facts)).toEqual(row)
  expect(freshScan({ ...facts, scope: 'c1', attempt: 3 })).toEqual({ ...row, scope: 'c1', attempt: 3 })
})

describe('opened scans', () => {
  test('are all there, none when there are none', async () => {
    await open()
    await open(scan('a'), scan('b'))
    await openScan(bench.engine, scan('c'))
    expect(await statesOf()).toEqual(['a scanning', 'b scanning', 'c scanning'])
    expect(await readScan(bench.engine, 'b')).toMatchObject({ scan_id: 'b', kind: 'backfill' })
    expect(await readScan(bench.engine, 'none')).toBeUndefined()
  })

  test('are forgotten by their ids', async () => {
    await open(scan('a'), scan('b'), scan('c'))
    await forgetScans(bench.engine, [])
    expect(await statesOf()).toHaveLength(3)
    await forgetScans(bench.engine, ['a', 'c'])
    expect(await statesOf()).toEqual(['b scanning'])
  })

  test('are counted by run', async () => {
    await open(scan('a'), scan('b'), scan('c', { run_id: 'run-2' }))
    expect([await countScans(bench.engine, 'run-1'), await countScans(bench.engine, 'none')]).toEqual([2, 0])
  })

  test('are changed one at a time', async () => {
    await open(scan('a'), scan('b'))
    await updateScan(bench.engine, 'a', { state: 'accepted' })
    expect(await statesOf()).toEqual(['a accepted', 'b scanning'])
  })

  test('of a backfill come in the order in which they were planned, days read on request aside', async () => {
    await open(
      ...[scan('b'), scan('a', { state: 'accepted' }), scan('c')],
      ...[
        scan('d', { scope: 'asked for' }),
        scan('e', { kind: 'incremental' }),
        scan('f', { resource: 'x' }),
      ],
    )
    expect(idsOf(await backfillScans(bench.engine, 'expenses'))).toEqual(['a', 'b', 'c'])
  })

  test('that are not decided keep their landed pages', async () => {
    await open(scan('a'), scan('b', { state: 'accepted' }), scan('c', { state: 'refused' }))
    expect([...(await openScanIds(bench.engine))]).toEqual(['a'])
  })
})

describe('giving up', () => {
  test('refuses scans of the resource and kind that are not decided, and leaves accepted ones', async () => {
    await open(
      ...[scan('accepted', { state: 'accepted' }), scan('changes', { kind: 'incremental' })],
      ...[scan('open'), scan('other', { resource: 'x' })],
    )
    expect(await giveUpScans(bench.engine, { resource: 'expenses', kind: 'backfill' })).toEqual(['open'])
    expect(await statesOf()).toEqual([
      ...['accepted accepted', 'changes scanning', 'open refused', 'other scanning'],
    ])
  })

  test('of one scan leaves it accepted when it was accepted meanwhile', async () => {
    await open(scan('a', { state: 'accepted' }), scan('b'))
    expect(await giveUpScans(bench.engine, { scan_id: 'a' })).toEqual([])
    expect(await giveUpScans(bench.engine, { scan_id: 'b' })).toEqual(['b'])
    expect(await statesOf()).toEqual(['a accepted', 'b refused'])
  })

  test('retires the backfill and scans of changes of one list, and no other scan', async () => {
    await open(
      ...[scan('accepted', { state: 'accepted' }), scan('changes', { kind: 'incremental' }), scan('days')],
      ...[scan('asked', { scope: 'asked for' }), scan('snapshot', { kind: 'snapshot' })],
      scan('other', { resource: 'x' }),
    )
    await retireScans(bench.engine, 'expenses')
    const retired = `scope = 'read when the key saw less'`
    expect(await statesOf(retired)).toEqual(['accepted accepted', 'changes refused', 'days refused'])
    expect(await statesOf(`not coalesce(${retired}, false)`)).toEqual([
      ...['asked refused', 'other scanning', 'snapshot scanning'],
    ])
    expect((await readScan(bench.engine, 'asked'))?.scope).toBe('asked for')
  })
})

test('of scans that were cut off the newest is resumed', async () => {
  await open(
    ...[scan('old'), scan('newest', { started_at: hour(3) }), scan('middle', { started_at: hour(2) })],
    ...[
      scan('x1', { started_at: hour(4), state: 'accepted' }),
      scan('x2', { started_at: hour(4), resource: 'x' }),
    ],
    scan('x3', { started_at: hour(4), kind: 'snapshot' }),
  )
  expect(idsOf(await unfinishedScans(bench.engine, 'expenses', 'backfill'))).toEqual([
    ...['newest', 'middle', 'old'],
  ])
  expect((await unfinishedScan(bench.engine, 'expenses', 'backfill'))?.scan_id).toBe('newest')
  expect(await unfinishedScan(bench.engine, 'expenses', 'sweep')).toBeUndefined()
})

describe('a watermark', () => {
  const found = { first_watermark: 'w', kind: 'incremental', state: 'accepted' } as const
  const times = (begun: number, ended: number) => ({
    ...{ service_started_at: hour(begun), service_accepted_at: hour(ended) },
  })
  const history = (now: string) => watermarkHistory(bench.engine, 'expenses', { watermark: 'w', now })

  test('stands since the first accepted scan that found it ended', async () => {
    await open(
      ...[scan('later', { ...found, ...times(6, 7) }), scan('first', { ...found, ...times(4, 5) })],
      scan('another', { ...found, ...times(1, 2), first_watermark: 'v' }),
      scan('refused', { ...found, ...times(1, 1), state: 'refused' }),
      scan('on request', { ...found, ...times(1, 3), scope: 'asked for' }),
      scan('other list', { ...found, ...times(1, 2), resource: 'x' }),
    )
    expect((await history(hour(10))).seen).toBe(hour(5))
  })

  test.each([
    ['the last scan of changes', hour(10), hour(8)],
    ['one that begins now', hour(8), hour(8)],
    ['none that began ahead of now, by a clock that was wrong', hour(7, 59), hour(6)],
  ])('is looked for since %s began', async (...[, now, begun]) => {
    await open(
      ...[scan('a', { ...found, ...times(6, 7) }), scan('b', { ...found, ...times(8, 9) })],
      scan('c', { ...found, ...times(4, 5), first_watermark: 'v' }),
      ...[scan('backfill', { ...found, ...times(9, 10), kind: 'backfill' })],
      ...[scan('refused', { ...found, ...times(9, 10), state: 'refused' })],
      ...[scan('on request', { ...found, ...times(9, 10), scope: 'asked for' })],
      ...[scan('other list', { ...found, ...times(9, 10), resource: 'x' })],
    )
    expect((await history(now)).begun).toBe(begun)
  })

  test('has no history before the first accepted scan', async () => {
    expect(await history(hour(10))).toEqual({ seen: undefined, begun: undefined })
  })
})

describe('the total of a list', () => {
  const changes = (id: string, at: number, parts: Partial<ScanRow> = {}) =>
    scan(id, { kind: 'incremental', state: 'accepted', accepted_at: hour(at), ...parts })

  test('is that of its last accepted scan of changes', async () => {
    await open(
      ...[changes('a', 1, { last_total: 1 }), changes('b', 3, { last_total: 8, first_total: 7 })],
      ...[changes('c', 2, { last_total: 3 }), changes('d', 4, { last_total: 2, state: 'refused' })],
      ...[
        changes('e', 4, { last_total: 4, kind: 'backfill' }),
        changes('f', 4, { last_total: 5, resource: 'x' }),
      ],
    )
    expect(await lastTotal(bench.engine, 'expenses')).toBe(8)
    expect(await lastListTotal(bench.engine, 'expenses')).toBe(8)
  })

  test('is unknown before the first, and complete only where that was not filtered', async () => {
    expect(await lastTotal(bench.engine, 'expenses')).toBeUndefined()
    expect(await lastListTotal(bench.engine, 'expenses')).toBeUndefined()
    await open(changes('a', 1, { from_day: '2026-01-01', last_total: 3 }))
    expect(await lastTotal(bench.engine, 'expenses')).toBe(3)
    expect(await lastListTotal(bench.engine, 'expenses')).toBeUndefined()
  })
})

test('scans that are open, or of a running run, are not finished', async () => {
  await bench.insert('ops.run', ...['running', 'done'].map(state => run(`run-${state}`, { state })))
  await open(scan('open'), scan('decided', { state: 'refused' }))
  const scans = ['open', 'decided', 'not recorded', 'run-running-x', 'run-done-x', 'ours-x', 'x-ours']
  expect(await finishedAmong(bench.engine, scans, ['ours'])).toEqual([
    ...['decided', 'not recorded', 'run-done-x', 'x-ours'],
  ])
})
