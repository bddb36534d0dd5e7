/** What is said of deletions list by list: tombstones, candidates, the last sweep and the last count. */
import { describe, expect, test } from 'vitest'
import {
  type Absence,
  absences,
  countLive,
  isNewerCount,
  recordCount,
  storedCounts,
} from '../../../src/state/evidence/absence.ts'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { deletion, evidence, expense, hour, ledgerBench, sweep } from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench()
const expenses = resourceOf('expenses')

const count = (run: string, at: number, parts: object = {}) => ({
  ...{ resource: 'expenses', run_id: run, scope_id: 'now', total: at, stored: at + 1, counted_at: hour(at) },
  ...parts,
})

test('stored are live records in sight of the scope, and waiting those with evidence', async () => {
  const outOfSight = { resource: 'expenses', record_id: 'hidden', scope_id: 'now', since: hour(1) }
  await bench.insert('ops.out_of_sight', outOfSight, { ...outOfSight, record_id: 'a', scope_id: 'other' })
  await bench.insert('ops.out_of_sight', { ...outOfSight, resource: 'x', record_id: 'b' })
  const gone = expense('gone', { is_deleted: true })
  await bench.insert('star.fact_expense', ...['a', 'b', 'c', 'hidden'].map(id => expense(id)), gone)
  await bench.insert(
    'ops.evidence',
    ...[evidence('a'), evidence('a', { source: 'run-2' }), evidence('gone'), evidence('hidden')],
    ...[evidence('b', { void_at: hour(7) }), evidence('c', { resource: 'x' })],
  )
  expect(await storedCounts(bench.engine, expenses, 'now')).toEqual({ stored: 3, waiting: 1 })
  expect(await storedCounts(bench.engine, expenses, 'other')).toEqual({ stored: 3, waiting: 1 })
  expect(await countLive(bench.engine, expenses)).toBe(4)
  expect(await countLive(bench.engine, expenses, `t.expense_id > 'a'`)).toBe(3)
})

test.each<[string | null, string | null, boolean]>([
  [null, null, false],
  [null, hour(1), false],
  [hour(1), null, true],
  [hour(2), hour(1), true],
  [hour(1), hour(1), false],
  [hour(1), hour(2), false],
])('counts of %s are newer than a sweep of %s: %s', (...[countedAt, sweptAt, isNewer]) => {
  expect(isNewerCount({ countedAt, sweptAt } as Absence)).toBe(isNewer)
})

describe('a list', () => {
  const empty = { tombstoned: 0, candidates: 0, sweptAt: null, total: null, stored: null, countedAt: null }

  test('is named by a sweep, a count, evidence or a deletion, in the order of names', async () => {
    expect(await absences(bench.engine)).toEqual([])
    await bench.insert('ops.deletion', deletion('r', { resource: 'd', undeleted_at: hour(8) }))
    await bench.insert('ops.evidence', evidence('r', { resource: 'c', void_at: hour(8) }))
    await recordCount(bench.engine, count('run-1', 3, { resource: 'b' }))
    await bench.insert('ops.sweep', sweep('w', { resource: 'a', state: 'refused' }))
    expect(await absences(bench.engine)).toEqual([
      { ...empty, resource: 'a' },
      { ...empty, resource: 'b', total: 3, stored: 4, countedAt: hour(3) },
      { ...empty, resource: 'c' },
      { ...empty, resource: 'd' },
    ])
  })

  test('has records that are tombstoned now, and candidates that are not', async () => {
    await bench.insert(
      'ops.deletion',
      ...[deletion('gone'), deletion('gone too'), deletion('back', { undeleted_at: hour(8) })],
      deletion('other', { resource: 'x' }),
    )
    await bench.insert(
      'ops.evidence',
      ...[evidence('gone'), evidence('back'), evidence('a'), evidence('a', { source: 'run-2' })],
      ...[evidence('void', { void_at: hour(7) }), evidence('other'), evidence('gone', { resource: 'x' })],
    )
    expect(await absences(bench.engine)).toMatchObject([
      { resource: 'expenses', tombstoned: 2, candidates: 3 },
      { resource: 'x', tombstoned: 1, candidates: 1 },
    ])
  })

  test('has the last sweep that was accepted, and the last count', async () => {
    await bench.insert(
      'ops.sweep',
      ...[
        sweep('a', { started_at: hour(2) }),
        sweep('b', { started_at: hour(4) }),
        sweep('c', { started_at: hour(3) }),
      ],
      ...[
        sweep('d', { started_at: hour(9), state: 'implausible' }),
        sweep('e', { started_at: hour(9), resource: 'x' }),
      ],
    )
    for (const at of [2, 5, 3]) await recordCount(bench.engine, count(`run-${at}`, at))
    await recordCount(bench.engine, count('run-9', 9, { resource: 'x' }))
    const found = {
      ...empty,
      resource: 'expenses',
      sweptAt: hour(4),
      total: 5,
      stored: 6,
      countedAt: hour(5),
    }
    expect((await absences(bench.engine))[0]).toEqual(found)
  })
})

test.each(['evidence', 'list_count'])('a copy without %s says nothing', async table => {
  await bench.insert('ops.sweep', sweep('w'))
  await bench.engine.run(`drop table ops.${table}`)
  forgetTables(bench.engine)
  expect(await absences(bench.engine)).toEqual([])
  forgetTables(bench.engine)
})
