/** What a sweep finds out about stored records: which it judges, which are missing, revived, out of sight or unread. */
import { beforeAll, describe, expect, test } from 'vitest'
import {
  countAnnounced,
  countOutOfSight,
  forgetOutOfSight,
  judgedCount,
  missingIds,
  noteUnread,
  rememberOutOfSight,
  resolveMissing,
  revivedIds,
  type SweptList,
  voidSeen,
} from '../../../src/state/evidence/swept-records.ts'
import type { EvidenceRow, QuarantineRow } from '../../../src/state/evidence/tables.ts'
import {
  evidence,
  expense,
  hour,
  keyScope,
  ledgerBench,
  quarantined,
  scan,
} from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench()
const justBefore8 = '2026-03-01T07:59:59.999Z'

/** Began at hour 8 with the scope `now`, whose run fetches what a test stores; `run-2` is of another scope. */
const list: SweptList = {
  ...{ resource: resourceOf('expenses'), sweepId: 'w', scopeId: 'now', startedAt: hour(8), baseline: null },
}
beforeAll(async () => {
  await bench.insert('ops.key_scope', keyScope('run-1', 'now'), keyScope('run-2', 'other'))
  await bench.insert(
    'ops.scan',
    ...['w1', 'w2'].map(id => scan(id, { sweep_id: 'w' })),
    scan('v1', { sweep_id: 'v' }),
  )
})

const saw = (id: string, parts: object = {}) =>
  bench.insert('ops.scan_id', { scan_id: 'w1', record_id: id, updated_at: hour(2), ...parts })
const stored = (id: string, parts: Record<string, unknown> = {}) =>
  bench.insert('star.fact_expense', expense(id, parts))
const outOfSight = (parts: object = {}) =>
  bench.insert('ops.out_of_sight', {
    ...{ resource: 'expenses', record_id: 'r', scope_id: 'now', since: hour(1), ...parts },
  })
const discovered = (parts: object = {}) =>
  bench.insert('ops.discovered', {
    ...{ resource: 'expenses', record_id: 'r', source: 'x', first_seen_at: hour(1), state: 'stored' },
    ...{ state_since: hour(1), fetched_by: 'run-1', fetches: 1, failed_fetches: 0, changes: 0 },
    ...{ exposure_days: 0, signals: 0, ...parts },
  })

type Setup = () => Promise<unknown>
const nothing: Setup = async () => undefined
const ofOthers = { run_id: 'run-2' }
const rows: readonly (readonly [string, Record<string, unknown>, Setup, string | null, string])[] = [
  ['that its scope has shown and it did not see is missing', {}, nothing, null, 'missing'],
  ['that it saw is judged', {}, () => saw('r'), null, 'judged'],
  ['that its other scan saw is judged', {}, () => saw('r', { scan_id: 'w2' }), null, 'judged'],
  ['that another sweep saw is missing', {}, () => saw('r', { scan_id: 'v1' }), null, 'missing'],
  ['of which it saw another is missing', {}, () => saw('q'), null, 'missing'],
  ['fetched just before it began is missing', { loaded_at: justBefore8 }, nothing, null, 'missing'],
  ['fetched when it began is not judged', { loaded_at: hour(8) }, nothing, null, 'left'],
  ['of others fetched when it began is left', { ...ofOthers, loaded_at: hour(8) }, nothing, null, 'left'],
  ['that is deleted is not judged', { is_deleted: true }, nothing, null, 'left'],
  ['that another scope fetched is out of its sight', ofOthers, nothing, null, 'out of sight'],
  ['that a run without a scope fetched is, too', { run_id: 'run-3' }, nothing, null, 'out of sight'],
  ['that another scope fetched and it saw is not', ofOthers, () => saw('r'), null, 'left'],
  ['known as out of its sight is not so again', ofOthers, outOfSight, null, 'left'],
  [
    'out of the sight of another scope is so',
    ofOthers,
    () => outOfSight({ scope_id: 'other' }),
    null,
    'out of sight',
  ],
  [
    'is out of sight whatever others are',
    ofOthers,
    () => outOfSight({ record_id: 'q' }),
    null,
    'out of sight',
  ],
  ['is so, whatever other lists have', ofOthers, () => outOfSight({ resource: 'x' }), null, 'out of sight'],
  ['fetched again by its scope without a change is missing', ofOthers, discovered, null, 'missing'],
  [
    'of which its scope fetched another is not',
    ofOthers,
    () => discovered({ record_id: 'q' }),
    null,
    'out of sight',
  ],
  [
    'whose id its scope fetched elsewhere is not',
    ofOthers,
    () => discovered({ resource: 'x' }),
    null,
    'out of sight',
  ],
  [
    'fetched again by others is not',
    ofOthers,
    () => discovered({ fetched_by: 'run-2' }),
    null,
    'out of sight',
  ],
  ['stored before the last sweep of its scope is missing', ofOthers, nothing, hour(6), 'missing'],
  ['stored when that began is out of its sight', ofOthers, nothing, hour(5), 'out of sight'],
  ['stored before, but out of its sight, is left', ofOthers, outOfSight, hour(6), 'left'],
  ['that its scope has shown since is missing', {}, nothing, hour(5), 'missing'],
  ['that its scope has shown is missing, though once out of its sight', {}, outOfSight, hour(6), 'missing'],
]

describe('a stored record', () => {
  const count = async (sql: string) => Number((await bench.column(sql))[0])

  test.each(rows)('%s', async (...[, parts, setup, baseline, verdict]) => {
    await stored('r', parts)
    await setup()
    const swept = { ...list, baseline }
    expect([
      await count(judgedCount(swept)),
      await bench.column(missingIds(swept)),
      await count(countOutOfSight(swept)),
    ]).toEqual([
      verdict === 'missing' || verdict === 'judged' ? 1 : 0,
      verdict === 'missing' ? ['r'] : [],
      verdict === 'out of sight' ? 1 : 0,
    ])
  })

  test('that is missing comes in the order of ids', async () => {
    for (const id of ['b', 'c', 'a']) await stored(id)
    expect(await bench.column(missingIds(list))).toEqual(['a', 'b', 'c'])
  })

  test.each<[string, Partial<EvidenceRow>, number]>([
    ['by an event', { kind: 'event' }, 1],
    ['not by a void event', { kind: 'event', void_at: hour(7) }, 0],
    ['not by a sweep', {}, 0],
    ['not by an event about another record', { kind: 'event', record_id: 'q' }, 0],
    ['not by an event about another list', { kind: 'event', resource: 'x' }, 0],
  ])('that is missing is announced %s', async (...[, parts, announced]) => {
    await stored('r')
    await bench.insert('ops.evidence', evidence('r', parts))
    expect(await count(countAnnounced(list))).toBe(announced)
  })

  test('that is announced, but not missing, is not counted', async () => {
    await stored('r')
    await saw('r')
    await bench.insert('ops.evidence', evidence('r', { kind: 'event' }))
    expect(await count(countAnnounced(list))).toBe(0)
  })

  test('out of sight is remembered since the sweep began, until its scope sees it', async () => {
    await stored('r', ofOthers)
    await bench.engine.run(rememberOutOfSight(list))
    const row = { resource: 'expenses', record_id: 'r', scope_id: 'now', since: hour(8) }
    expect(await bench.rows('select * from ops.out_of_sight')).toEqual([row])
    await outOfSight({ scope_id: 'other' })
    await outOfSight({ resource: 'x' })
    await outOfSight({ record_id: 'q' })
    await saw('q', { scan_id: 'v1' })
    await saw('r')
    await bench.engine.run(forgetOutOfSight(list))
    const left = await bench.rows('select resource, record_id, scope_id from ops.out_of_sight order by 1, 2')
    expect(left).toEqual([
      { resource: 'expenses', record_id: 'q', scope_id: 'now' },
      { resource: 'expenses', record_id: 'r', scope_id: 'other' },
      { resource: 'x', record_id: 'r', scope_id: 'now' },
    ])
  })
})

describe('a tombstoned record', () => {
  test.each<[string, Record<string, unknown>, string, boolean]>([
    ['found missing before the sweep, and seen, is revived', { deleted_at: justBefore8 }, 'r', true],
    ['found missing when the sweep began is not', { deleted_at: hour(8) }, 'r', false],
    ['that the sweep did not see is not', { deleted_at: hour(7) }, 'q', false],
    ['without a time is dated by its fetch', {}, 'r', true],
    ['without a time that was fetched since is not', { loaded_at: hour(8) }, 'r', false],
    ['that was marked after its fetch is dated by the mark', { deleted_at: hour(9) }, 'r', false],
    ['that is live is not', { deleted_at: hour(7), is_deleted: false }, 'r', false],
  ])('%s', async (...[, parts, seen, isRevived]) => {
    await stored('r', { is_deleted: true, ...parts })
    await saw(seen)
    expect(await bench.column(revivedIds(list))).toEqual(isRevived ? ['r'] : [])
  })

  test('comes in the order of ids', async () => {
    for (const id of ['b', 'c', 'a']) {
      await stored(id, { is_deleted: true, deleted_at: hour(7) })
      await saw(id)
    }
    expect(await bench.column(revivedIds(list))).toEqual(['a', 'b', 'c'])
  })
})

describe('evidence against a record that a sweep saw', () => {
  const reason = 'seen by sweep w'
  test.each<[string, Partial<EvidenceRow>, object, string | null]>([
    ['becomes void', {}, {}, reason],
    ['becomes void, found just before the sweep', { seen_at: justBefore8 }, {}, reason],
    ['stays, found when the sweep began', { seen_at: hour(8) }, {}, null],
    ['stays against another record', { record_id: 'q' }, {}, null],
    ['stays against a record of another list', { resource: 'x' }, {}, null],
    ['stays when another sweep saw it', {}, { scan_id: 'v1' }, null],
    ['keeps its first reason', { void_at: hour(7), void_reason: 'first' }, {}, 'first'],
  ])('%s', async (...[, parts, seen, expected]) => {
    await bench.insert('ops.evidence', evidence('r', parts))
    await saw('r', seen)
    await bench.engine.run(voidSeen(list))
    const at = expected === reason ? hour(8) : (parts.void_at ?? null)
    expect(await bench.rows('select void_reason, void_at from ops.evidence')).toEqual([
      { void_reason: expected, void_at: at },
    ])
  })
})

describe('a quarantined record that a sweep did not see', () => {
  test.each<[string, Partial<QuarantineRow>, string, string | null]>([
    ['is resolved', {}, 'q', hour(8)],
    ['is resolved when read just before the sweep', { seen_at: justBefore8 }, 'q', hour(8)],
    ['stays when read since it began', { seen_at: hour(8) }, 'q', null],
    ['stays when it was seen after all', {}, 'r', null],
    ['stays when only another scope has shown it', { run_id: 'run-2' }, 'q', null],
    ['stays in another list', { resource: 'x' }, 'q', null],
    ['keeps the time when it was resolved', { resolved_at: hour(7) }, 'q', hour(7)],
    ['stays when it has no id', { record_id: null }, 'q', null],
  ])('%s', async (...[, parts, seen, expected]) => {
    await bench.insert('ops.quarantine', quarantined('r', parts))
    await saw(seen)
    await bench.engine.run(resolveMissing(list))
    expect(await bench.column('select resolved_at from ops.quarantine')).toEqual([expected])
  })

  test('is resolved when another sweep saw it, and stays without an id when the sweep saw nothing', async () => {
    await bench.insert('ops.quarantine', quarantined('r'), quarantined('none', { record_id: null }))
    await saw('r', { scan_id: 'v1' })
    await bench.engine.run(resolveMissing(list))
    expect(await bench.column('select resolved_at from ops.quarantine order by record_id')).toEqual([
      ...[hour(8), null],
    ])
  })
})

describe('a record that a sweep saw', () => {
  const before = hour(4)
  const noted = async () => {
    await bench.engine.run(noteUnread(list, before))
    return bench.column('select record_id from ops.unread')
  }

  test.each<[string, Setup, boolean]>([
    ['that is not stored', () => saw('r'), true],
    [
      'that changed just before the next scan begins',
      () => saw('r', { updated_at: '2026-03-01T03:59:59.999Z' }),
      true,
    ],
    ['not when the next scan reads it', () => saw('r', { updated_at: before }), false],
    ['not when its time is unknown', () => saw('r', { updated_at: null }), false],
    ['not when another sweep saw it', () => saw('r', { scan_id: 'v1' }), false],
  ])('is noted as unread: %s', async (...[, setup, isNoted]) => {
    await setup()
    expect(await noted()).toEqual(isNoted ? ['r'] : [])
  })

  test.each<[string, Setup, boolean]>([
    ['not when this version is stored', () => stored('r'), false],
    ['not when a later one is stored', () => stored('r', { source_updated_at: hour(3) }), false],
    ['when an earlier one is stored', () => stored('r', { source_updated_at: hour(1) }), true],
    ['not when it is tombstoned in this version', () => stored('r', { is_deleted: true }), false],
    ['when another record is stored', () => stored('q'), true],
    ['not when it is in quarantine', () => bench.insert('ops.quarantine', quarantined('r')), false],
    [
      'when it has left quarantine',
      () => bench.insert('ops.quarantine', quarantined('r', { resolved_at: hour(3) })),
      true,
    ],
    ['when another is in quarantine', () => bench.insert('ops.quarantine', quarantined('q')), true],
    [
      'when its id is in quarantine elsewhere',
      () => bench.insert('ops.quarantine', quarantined('r', { resource: 'x' })),
      true,
    ],
  ])('is noted as unread: %s', async (...[, setup, isNoted]) => {
    await setup()
    await saw('r')
    expect(await noted()).toEqual(isNoted ? ['r'] : [])
  })

  test('is noted once, in the last version that its scans saw', async () => {
    await saw('r', { created_at: hour(0), updated_at: hour(2) })
    await saw('r', { created_at: hour(1), updated_at: hour(3), scan_id: 'w2' })
    await saw('r', { created_at: hour(0), updated_at: hour(1) })
    await noted()
    expect(await bench.rows('select * from ops.unread')).toEqual([
      { resource: 'expenses', record_id: 'r', created_at: hour(1), updated_at: hour(3), noted_at: hour(8) },
    ])
  })

  test('stays as it was noted before, which another record or list does not matter to', async () => {
    const note = { updated_at: 'old', noted_at: hour(1) }
    await bench.insert('ops.unread', { ...note, resource: 'expenses', record_id: 'r' })
    await bench.insert('ops.unread', { ...note, resource: 'x', record_id: 'q' })
    await saw('r')
    await saw('q')
    await noted()
    expect(
      await bench.rows('select resource, record_id as id, updated_at from ops.unread order by 1, 2'),
    ).toEqual([
      { resource: 'expenses', id: 'q', updated_at: hour(2) },
      { resource: 'expenses', id: 'r', updated_at: 'old' },
      { resource: 'x', id: 'q', updated_at: 'old' },
    ])
  })
})
