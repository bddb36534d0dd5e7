/** When a record that could not be loaded comes into quarantine, comes back to it, and leaves it. */
import { describe, expect, test } from 'vitest'
import {
  closeQuarantine,
  closeVanished,
  keepQuarantine,
  quarantinedIds,
} from '../../../src/state/evidence/quarantine.ts'
import type { QuarantineRow } from '../../../src/state/evidence/tables.ts'
import { hour, keyScope, ledgerBench, quarantined } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const insert = (...rows: readonly QuarantineRow[]) => bench.insert('ops.quarantine', ...rows)
const resolved = () =>
  bench.rows('select quarantine_id as id, resolved_at as at from ops.quarantine order by 1')
const kept = async (parts: Partial<Parameters<typeof keepQuarantine>[1]>, waiting = 1) =>
  keepQuarantine(
    bench.engine,
    { resource: 'expenses', rows: [], ...parts },
    { contested: 0, quarantined: waiting },
  )

describe('a record that is loaded', () => {
  const delta = (state: string, key = 'r') =>
    bench.engine.run(
      `create or replace temp table delta as select '${key}' as record_key, '${state}' as state, timestamptz '${hour(9)}' as loaded_at`,
    )

  test.each<[string, string, Partial<QuarantineRow>, string | null]>([
    ['leaves quarantine', 'changed', {}, hour(9)],
    ['leaves it, too, when it is stored already', 'same', {}, hour(9)],
    ['stays while it is missing from the page', 'missing', {}, null],
    ['leaves others there', 'changed', { record_id: 'q' }, null],
    ['leaves other lists alone', 'changed', { resource: 'x' }, null],
    ['keeps the time when it left', 'changed', { resolved_at: hour(3) }, hour(3)],
  ])('%s', async (...[, state, parts, at]) => {
    await insert(quarantined('r', parts))
    await delta(state)
    await kept({})
    expect(await resolved()).toEqual([{ id: 'q r', at }])
  })

  test('is not looked for while nothing waits', async () => {
    await insert(quarantined('r'))
    await delta('changed')
    await kept({}, 0)
    expect(await resolved()).toEqual([{ id: 'q r', at: null }])
  })

  test('and could not be, by another value of it, is there again', async () => {
    await insert(quarantined('r'))
    await delta('changed')
    await kept({ rows: [quarantined('r', { quarantine_id: 'q2', seen_at: hour(9) })] })
    expect(await resolved()).toEqual([
      { id: 'q r', at: hour(9) },
      { id: 'q2', at: null },
    ])
  })
})

describe('a record that could not be loaded', () => {
  const rows = () => bench.rows('select * from ops.quarantine order by quarantine_id')

  test('is added once, as it was seen last, and comes back', async () => {
    await insert(quarantined('r', { resolved_at: hour(3), run_id: 'first' }))
    const twice = [7, 8].map(at => quarantined('r', { seen_at: hour(at) }))
    await kept({ rows: [...twice, quarantined('q')] }, 0)
    expect(await rows()).toEqual([
      quarantined('q'),
      quarantined('r', { run_id: 'first', seen_at: hour(8), resolved_at: null }),
    ])
  })

  test('is added however many there are', async () => {
    await kept({ rows: Array.from({ length: 501 }, (_, at) => quarantined(`r${at}`)) }, 0)
    expect(await rows()).toHaveLength(501)
  })
})

test.each<[string, Partial<QuarantineRow>, string | null]>([
  ['seen before that is resolved', { seen_at: hour(7, 59) }, hour(9)],
  ['seen by that is not', { seen_at: hour(8) }, null],
  ['of another list is not', { resource: 'x' }, null],
  ['resolved before keeps its time', { resolved_at: hour(3) }, hour(3)],
])('when a whole list was read, a record %s', async (...[, parts, at]) => {
  await insert(quarantined('r', parts))
  await closeQuarantine(bench.engine, 'expenses', { seenBefore: hour(8), at: hour(9) })
  expect(await resolved()).toEqual([{ id: 'q r', at }])
})

test('in quarantine are the ids of a list that wait, once each', async () => {
  await insert(
    ...[
      quarantined('a'),
      quarantined('a', { quarantine_id: 'a2' }),
      quarantined('b', { resolved_at: hour(3) }),
    ],
    ...[quarantined('c', { resource: 'x' }), quarantined('none', { record_id: null }), quarantined('d')],
  )
  expect([...(await quarantinedIds(bench.engine, 'expenses'))].sort()).toEqual(['a', 'd'])
})

describe('a record that the service no longer has', () => {
  const vanish = (ids: readonly string[], parts: object = {}) =>
    closeVanished(bench.engine, { resource: 'expenses', ids, at: hour(9), ...parts })

  test.each<[string, Partial<QuarantineRow>, object, string | null]>([
    ['leaves quarantine', {}, {}, hour(9)],
    ['leaves others there', { record_id: 'q' }, {}, null],
    ['leaves other lists alone', { resource: 'x' }, {}, null],
    ['keeps the time when it left', { resolved_at: hour(3) }, {}, hour(3)],
    ['leaves by the key that has shown it', {}, { scopeId: 'now' }, hour(9)],
    ['stays by another key', {}, { scopeId: 'other' }, null],
    ['stays when no key is known to have shown it', { run_id: 'run-9' }, { scopeId: 'now' }, null],
    ['leaves by any key where none is named', { run_id: 'run-9' }, {}, hour(9)],
  ])('%s', async (...[, row, parts, at]) => {
    await bench.insert('ops.key_scope', keyScope('run-1', 'now'), keyScope('run-2', 'other'))
    await insert(quarantined('r', row))
    await vanish(['r'], parts)
    expect(await resolved()).toEqual([{ id: 'q r', at }])
  })

  test('is one of as many as there are, or none', async () => {
    await insert(quarantined('r500'), quarantined('r'))
    await vanish([])
    await vanish(Array.from({ length: 501 }, (_, at) => `r${at}`))
    expect((await resolved()).map(({ at }) => at)).toEqual([null, hour(9)])
  })
})
