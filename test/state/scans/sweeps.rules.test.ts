/** Which sweep is resumed, which was the last, and which records that a sweep saw are still to be read. */
import { describe, expect, test } from 'vitest'
import {
  forgetUnread,
  isAnyUnread,
  lastSweep,
  noteUnreadRecords,
  openSweep,
  stillUnread,
  sweepScans,
  unfinishedSweep,
  updateSweep,
} from '../../../src/state/scans/sweeps.ts'
import { expense, hour, ledgerBench, scan, sweep } from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench()
const expenses = resourceOf('expenses')

describe('a sweep', () => {
  test('is opened, and changed by itself', async () => {
    await openSweep(bench.engine, sweep('w1', { state: 'sweeping' }))
    await openSweep(bench.engine, sweep('w2', { state: 'sweeping' }))
    await updateSweep(bench.engine, 'w1', { state: 'implausible', note: 'why' })
    expect(await bench.rows('select sweep_id as id, state, note from ops.sweep order by 1')).toEqual([
      { id: 'w1', state: 'implausible', note: 'why' },
      { id: 'w2', state: 'sweeping', note: null },
    ])
  })

  test('that was cut off last is resumed', async () => {
    await bench.insert(
      'ops.sweep',
      ...[1, 3, 2].map(at => sweep(`w${at}`, { state: 'sweeping', started_at: hour(at) })),
      sweep('ended', { started_at: hour(9) }),
      sweep('other', { state: 'sweeping', started_at: hour(9), resource: 'x' }),
    )
    expect((await unfinishedSweep(bench.engine, 'expenses'))?.sweep_id).toBe('w3')
    expect(await unfinishedSweep(bench.engine, 'y')).toBeUndefined()
  })

  test('is the last when it is the newest accepted one, of the scope where one is asked for', async () => {
    await bench.insert(
      'ops.sweep',
      ...[sweep('a1', { scope_id: 'a' }), sweep('b', { scope_id: 'b', started_at: hour(3) })],
      ...[
        sweep('a2', { scope_id: 'a', started_at: hour(2) }),
        sweep('x', { resource: 'x', started_at: hour(8) }),
      ],
      sweep('implausible', { scope_id: 'a', started_at: hour(9), state: 'implausible' }),
    )
    const last = async (scope?: string) => (await lastSweep(bench.engine, 'expenses', scope))?.sweep_id
    expect([await last(), await last('a'), await last('c')]).toEqual(['b', 'a2', undefined])
  })

  test('has the scans of its windows in their order', async () => {
    const windows = ['s2', 's1', 's3'].map(id => scan(id, { sweep_id: 'w', kind: 'sweep' }))
    await bench.insert('ops.scan', ...windows, scan('other', { sweep_id: 'v' }), scan('none'))
    expect((await sweepScans(bench.engine, 'w')).map(row => row.scan_id)).toEqual(['s1', 's2', 's3'])
  })
})

describe('a record that a sweep saw', () => {
  const note = (id: string, updatedAt: string | null, at = hour(9)) =>
    noteUnreadRecords(bench.engine, 'expenses', { records: [{ id, createdAt: hour(1), updatedAt }], at })
  const unread = async () => (await stillUnread(bench.engine, expenses)).map(row => row.record_id)

  test.each<[string, string, Record<string, unknown>, boolean]>([
    ['when another version is stored that is older', hour(3), { source_updated_at: hour(2) }, true],
    ['not when this version is stored', hour(2), { source_updated_at: hour(2) }, false],
    ['not when a later one is stored', hour(2), { source_updated_at: hour(3) }, false],
    ['when the stored one is deleted', hour(2), { is_deleted: true }, true],
    ['when the stored one is distrusted', hour(2), { row_hash: '' }, true],
  ])('is still unread %s', async (...[, updatedAt, stored, isUnread]) => {
    await bench.insert('star.fact_expense', expense('r', stored))
    await note('r', updatedAt)
    expect(await unread()).toEqual(isUnread ? ['r'] : [])
    expect(await isAnyUnread(bench.engine, 'expenses')).toBe(isUnread)
  })

  test('is still unread while it is not stored, whatever is stored of others', async () => {
    await bench.insert('star.fact_expense', expense('other'))
    await note('r', hour(1))
    await note('unknown time', null)
    expect((await unread()).sort()).toEqual(['r', 'unknown time'])
  })

  test('is noted in its last version, once', async () => {
    await noteUnreadRecords(bench.engine, 'expenses', { records: [], at: hour(8) })
    await note('r', hour(2))
    await note('r', hour(4), hour(10))
    expect(await bench.rows('select * from ops.unread')).toEqual([
      {
        ...{ resource: 'expenses', record_id: 'r', created_at: hour(1), updated_at: hour(4) },
        noted_at: hour(10),
      },
    ])
  })

  test('of another list is neither asked for, nor found, nor forgotten', async () => {
    const row = { record_id: 'r', updated_at: hour(2), noted_at: hour(9) }
    await bench.insert('star.fact_expense', expense('r'))
    await bench.insert('ops.unread', { ...row, resource: 'expenses' }, { ...row, resource: 'x' })
    expect(await isAnyUnread(bench.engine, 'none')).toBe(false)
    expect(await unread()).toEqual([])
    expect(await isAnyUnread(bench.engine, 'x')).toBe(true)
    await note('s', hour(2))
    await forgetUnread(bench.engine, 'expenses')
    expect(await bench.column('select resource from ops.unread')).toEqual(['x'])
  })
})
