/** Which evidence of a deletion counts, what takes it back, and which records answer for the rest. */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  controlIds,
  openCases,
  recordDeletions,
  recordEvidence,
  recordEvidenceOfStored,
  recordSightings,
  recordUndeletions,
  resourcesWithEvidence,
  standingDeletions,
  standingEvidence,
  voidEvidence,
} from '../../../src/state/evidence/evidence.ts'
import { unsettled } from '../../../src/state/evidence/key-scopes.ts'
import type { DeletionRow, EvidenceRow, KeyScopeRow } from '../../../src/state/evidence/tables.ts'
import {
  deletion,
  evidence,
  expense,
  hour,
  keyScope,
  ledgerBench,
  quarantined,
} from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench()
const expenses = resourceOf('expenses')
const justAfter6 = '2026-03-01T06:00:00.001Z'

type Parts = Readonly<Record<string, unknown>>
const stored = (...ids: readonly string[]) => bench.insert('star.fact_expense', ...ids.map(id => expense(id)))
const piece = (id: string, parts: Partial<EvidenceRow> = {}) => {
  const { void_at, void_reason, ...row } = evidence(id, parts)
  return row
}
const discovered = (id: string, parts: Parts = {}) =>
  bench.insert('ops.discovered', {
    ...{ resource: 'expenses', record_id: id, source: 'x', first_seen_at: hour(1), state: 'stored' },
    ...{ state_since: hour(1), fetches: 1, failed_fetches: 0, changes: 0, exposure_days: 0, signals: 0 },
    ...parts,
  })

describe('evidence is recorded', () => {
  const all = () =>
    bench.column(`select source || ' ' || kind || ' ' || record_id from ops.evidence order by 1`)

  test('once of one kind from one source against one record', async () => {
    await recordEvidence(bench.engine, [piece('r')])
    await recordEvidence(bench.engine, [
      ...[piece('r', { seen_at: hour(7) }), piece('r', { source: 'run-2' }), piece('r', { kind: 'event' })],
      piece('q'),
    ])
    expect(await all()).toEqual(['run-1 event r', 'run-1 sweep q', 'run-1 sweep r', 'run-2 sweep r'])
    const [row] = await bench.rows(
      `select * from ops.evidence where source = 'run-1' and kind = 'sweep' and record_id = 'r'`,
    )
    expect(row).toEqual(evidence('r'))
  })

  test('completely, however much there is', async () => {
    await recordEvidence(bench.engine, [])
    await recordEvidence(
      bench.engine,
      Array.from({ length: 501 }, (_, at) => piece(`r${at}`)),
    )
    expect(await bench.column('select cast(count(*) as integer) from ops.evidence')).toEqual([501])
  })

  test('by id only against records that are stored and live', async () => {
    await bench.insert(
      'star.fact_expense',
      expense('live'),
      expense('gone', { is_deleted: true }),
      expense('silent'),
    )
    const rows = ['live', 'gone', 'never'].map(id => piece(id, { kind: 'by-id 404', resource: 'x' }))
    await recordEvidenceOfStored(bench.engine, expenses, rows)
    await recordEvidenceOfStored(bench.engine, expenses, [])
    expect(await bench.rows('select resource, record_id, kind from ops.evidence')).toEqual([
      { resource: 'expenses', record_id: 'live', kind: 'by-id 404' },
    ])
  })
})

describe('evidence stands', () => {
  const standing = () => standingEvidence(bench.engine, expenses, 'now')
  beforeEach(() => bench.insert('ops.key_scope', keyScope('run-1', 'now'), keyScope('run-2', 'other')))

  test.each<[string, Partial<EvidenceRow>, Parts, boolean]>([
    ['from when the stored version was fetched', { seen_at: hour(5) }, {}, true],
    ['from after it', { seen_at: hour(6) }, {}, true],
    ['not from before it', { seen_at: hour(4, 59) }, {}, false],
    ['not when it is void', { void_at: hour(7) }, {}, false],
    ['not against a deleted record', {}, { is_deleted: true }, false],
    ['not against a record that is not stored', {}, { expense_id: 'q' }, false],
    ['not from another list', { resource: 'x' }, {}, false],
    ['from a run without a scope', { source: 'run-9' }, {}, true],
  ])('%s', async (...[, parts, row, stands]) => {
    await bench.insert('star.fact_expense', expense('r', row))
    await bench.insert('ops.evidence', evidence('r', parts))
    expect(await standing()).toHaveLength(stands ? 1 : 0)
  })

  test('by record, time and kind', async () => {
    await stored('a', 'b')
    await bench.insert(
      'ops.evidence',
      ...[
        evidence('b'),
        evidence('a', { seen_at: hour(8) }),
        evidence('a', { seen_at: hour(7), kind: 'sweep', source: 'x' }),
      ],
      evidence('a', { seen_at: hour(7), kind: 'event', source: 'e' }),
    )
    expect((await standing()).map(({ record_id, kind, source }) => [record_id, kind, source])).toEqual([
      ['a', 'event', 'e'],
      ['a', 'sweep', 'x'],
      ['a', 'sweep', 'run-1'],
      ['b', 'sweep', 'run-1'],
    ])
  })

  test('with the scope of its run, and whether the scope asked for fetched the stored version', async () => {
    await stored('r')
    await bench.insert('ops.evidence', evidence('r', { source: 'run-2' }))
    const found = { record_id: 'r', kind: 'sweep', source: 'run-2', seen_at: hour(6), scope_id: 'other' }
    expect(await standing()).toEqual([{ ...found, is_fetched: true, is_predecessors: false }])
    expect(await standingEvidence(bench.engine, expenses, 'other')).toMatchObject([{ is_fetched: false }])
    await bench.engine.run(`update ops.evidence set source = 'event-1'`)
    expect(await standing()).toMatchObject([{ scope_id: null, is_fetched: true, is_predecessors: false }])
  })
})

describe('a 404 of another key with the same lists', () => {
  const by404 = { kind: 'by-id 404', source: 'run-2' } as const
  const counts = async (piece: Partial<EvidenceRow>, row: Parts, theirs: Partial<KeyScopeRow>) => {
    await bench.insert('ops.key_scope', keyScope('run-1', 'now'))
    await bench.insert('ops.key_scope', keyScope('run-2', theirs.scope_id ?? 'before', theirs))
    await bench.insert('star.fact_expense', expense('r', { run_id: 'run-2', ...row }))
    await bench.insert('ops.evidence', evidence('r', { ...by404, ...piece }))
    const [found] = await standingEvidence(bench.engine, expenses, 'now')
    return found?.is_predecessors
  }

  test.each<[string, Partial<EvidenceRow>, Parts, Partial<KeyScopeRow>, boolean]>([
    ['counts when that key had shown the record', {}, {}, {}, true],
    ['does not when it never had', {}, { run_id: 'run-1' }, {}, false],
    ['does not when it is of another kind', { kind: 'sweep' }, {}, {}, false],
    ['does not when its run has no scope', { source: 'run-9' }, {}, {}, false],
    ['does not when the scope changed during the run', {}, {}, { scope_id: unsettled }, false],
    ['does not when the key was of another kind', {}, {}, { kind: 'agency' }, false],
    ['does not when it had other companies', {}, {}, { companies: '["c2"]' }, false],
    ['does not when it had other agencies', {}, {}, { agencies: '["a1"]' }, false],
    ['does not when it had other permissions', {}, {}, { scopes: '["read"]' }, false],
  ])('%s', async (...[, piece, row, theirs, expected]) => {
    expect(await counts(piece, row, theirs)).toBe(expected)
  })

  test('does not for a scope that is not known', async () => {
    expect(await counts({}, {}, {})).toBe(true)
    const [found] = await standingEvidence(bench.engine, expenses, 'unknown')
    expect(found?.is_predecessors).toBe(false)
  })

  test('counts when that key fetched the record again without a change', async () => {
    await discovered('r', { fetched_by: 'run-2' })
    expect(await counts({}, { run_id: 'run-1' }, {})).toBe(true)
  })
})

describe('evidence is voided', () => {
  const reasons = () =>
    bench.rows('select record_id as id, resource, void_reason as why from ops.evidence order by 1, 2')

  test('by list and record, and keeps the first reason', async () => {
    await bench.insert('ops.evidence', evidence('a'), evidence('b'), evidence('a', { resource: 'x' }))
    const of = { resource: 'expenses', ids: ['a'] }
    await voidEvidence(bench.engine, { ...of, ids: [] }, { at: hour(6), reason: 'none' })
    await voidEvidence(bench.engine, of, { at: hour(7), reason: 'first' })
    await voidEvidence(bench.engine, of, { at: hour(8), reason: 'second' })
    expect(await reasons()).toEqual([
      { id: 'a', resource: 'expenses', why: 'first' },
      { id: 'a', resource: 'x', why: null },
      { id: 'b', resource: 'expenses', why: null },
    ])
    expect(await bench.column('select void_at from ops.evidence where void_at is not null')).toEqual([
      hour(7),
    ])
    expect([...(await resourcesWithEvidence(bench.engine))].sort()).toEqual(['expenses', 'x'])
    await voidEvidence(bench.engine, { ...of, ids: ['a', 'b'] }, { at: hour(9), reason: 'third' })
    expect([...(await resourcesWithEvidence(bench.engine))]).toEqual(['x'])
  })
})

describe('a record on a page', () => {
  const sight = async (loadedAt: string, id = 'r') => {
    await bench.engine.run(
      `create or replace temp table stage_record as select '${id}' as record_key, timestamptz '${loadedAt}' as loaded_at, 'run-9' as run_id`,
    )
    await recordSightings(bench.engine, 'expenses')
  }
  const again = 'read again by run run-9'

  test.each<[string, string, Partial<EvidenceRow>, string | null]>([
    ['fetched after evidence voids it', justAfter6, {}, again],
    ['fetched at the time of evidence leaves it', hour(6), {}, null],
    ['leaves evidence of another list', justAfter6, { resource: 'x' }, null],
    ['leaves evidence against another record', justAfter6, { record_id: 'q' }, null],
    ['leaves the first reason', justAfter6, { void_at: hour(6), void_reason: 'first' }, 'first'],
  ])('%s', async (...[, loadedAt, parts, reason]) => {
    await bench.insert('ops.evidence', evidence('r', parts))
    await sight(loadedAt)
    const at = reason === again ? loadedAt : (parts.void_at ?? null)
    expect(await bench.rows('select void_reason, void_at from ops.evidence')).toEqual([
      { void_reason: reason, void_at: at },
    ])
  })

  test.each<[string, string, Partial<DeletionRow>, string | null]>([
    ['fetched after its deletion ends it', justAfter6, {}, 'run-9'],
    ['fetched at the time of its deletion leaves it', hour(6), {}, null],
    ['leaves deletions of another list', justAfter6, { resource: 'x' }, null],
    ['leaves deletions of another record', justAfter6, { record_id: 'q' }, null],
    [
      'leaves a deletion that has ended',
      justAfter6,
      { undeleted_at: hour(6), undeleted_by: 'first' },
      'first',
    ],
  ])('%s', async (...[, loadedAt, parts, by]) => {
    await bench.insert('ops.deletion', deletion('r', parts))
    await sight(loadedAt)
    const at = by === 'run-9' ? loadedAt : (parts.undeleted_at ?? null)
    expect(await bench.rows('select undeleted_by, undeleted_at from ops.deletion')).toEqual([
      { undeleted_by: by, undeleted_at: at },
    ])
  })
})

test('open cases are evidence and deletions that stand, and quarantine that waits', async () => {
  expect(await openCases(bench.engine, 'expenses')).toEqual({ contested: 0, quarantined: 0 })
  const other = { resource: 'x' }
  await bench.insert('ops.evidence', evidence('a'), evidence('b', { void_at: hour(7) }), evidence('a', other))
  await bench.insert(
    'ops.deletion',
    ...[deletion('c'), deletion('d'), deletion('e', { undeleted_at: hour(8) }), deletion('c', other)],
  )
  const waiting = ['f', 'g', 'h', 'i'].map(id => quarantined(id))
  await bench.insert(
    'ops.quarantine',
    ...waiting,
    quarantined('j', { resolved_at: hour(2) }),
    quarantined('k', other),
  )
  expect(await openCases(bench.engine, 'expenses')).toEqual({ contested: 3, quarantined: 4 })
})

describe('deletions', () => {
  test('stand until their records come back, by list and record', async () => {
    const ids = Array.from({ length: 501 }, (_, at) => `r${at}`)
    await recordDeletions(bench.engine, [])
    await recordDeletions(
      bench.engine,
      ids.map(id => deletion(id)),
    )
    expect(await standingDeletions(bench.engine)).toHaveLength(501)
    const back = { resource: 'expenses', ids: ids.slice(1) }
    await recordUndeletions(bench.engine, { ...back, ids: [] }, { at: hour(8), run: 'run-2' })
    await recordUndeletions(bench.engine, { ...back, resource: 'x' }, { at: hour(8), run: 'run-2' })
    expect(await standingDeletions(bench.engine)).toHaveLength(501)
    await recordUndeletions(bench.engine, back, { at: hour(8), run: 'run-2' })
    await recordUndeletions(bench.engine, back, { at: hour(9), run: 'run-3' })
    expect(await standingDeletions(bench.engine)).toEqual([deletion('r0')])
    expect(
      await bench.column('select distinct undeleted_by from ops.deletion order by 1 nulls last'),
    ).toEqual([...['run-2', null]])
  })
})

describe('controls', () => {
  const controls = () => controlIds(bench.engine, expenses, 'now')
  beforeEach(() => bench.insert('ops.key_scope', keyScope('run-1', 'now'), keyScope('run-2', 'other')))

  test('are three: those of the scope first, then those fetched last, then by id', async () => {
    const row = (id: string, at: number, run: string) => expense(id, { loaded_at: hour(at), run_id: run })
    await bench.insert('star.fact_expense', row('d', 9, 'run-2'), row('c', 3, 'run-1'), row('e', 8, 'run-2'))
    expect(await controls()).toEqual(['c', 'd', 'e'])
    await bench.insert('star.fact_expense', row('b', 4, 'run-1'), row('a', 3, 'run-1'))
    expect(await controls()).toEqual(['b', 'a', 'c'])
  })

  const outOfSight = (parts: Parts = {}) =>
    bench.insert('ops.out_of_sight', {
      ...{ resource: 'expenses', record_id: 'r', scope_id: 'now', since: hour(1), ...parts },
    })
  test.each<[string, () => Promise<unknown>, boolean]>([
    ['not with evidence against them', () => bench.insert('ops.evidence', evidence('r')), false],
    ['with void evidence', () => bench.insert('ops.evidence', evidence('r', { void_at: hour(7) })), true],
    ['with evidence against others', () => bench.insert('ops.evidence', evidence('q')), true],
    [
      'with evidence in another list',
      () => bench.insert('ops.evidence', evidence('r', { resource: 'x' })),
      true,
    ],
    ['not when they were refused by id', () => discovered('r', { state: 'refused' }), false],
    ['when they were read by id', () => discovered('r'), true],
    ['when others were refused', () => discovered('q', { state: 'refused' }), true],
    ['when their id was refused elsewhere', () => discovered('r', { state: 'refused', resource: 'x' }), true],
    ['not out of sight', () => outOfSight(), false],
    ['out of the sight of another scope', () => outOfSight({ scope_id: 'other' }), true],
    [
      'not when they are deleted',
      () => bench.engine.run('update star.fact_expense set is_deleted = true'),
      false,
    ],
  ])('are records %s', async (...[, setup, isControl]) => {
    await stored('r')
    await setup()
    expect(await controls()).toEqual(isControl ? ['r'] : [])
  })
})
