/** Which evidence of a deletion counts, what takes it back, and which rows a sweep judges. */
import { describe, expect, test } from 'vitest'
import {
  controlIds,
  openCases,
  recordEvidence,
  recordEvidenceOfStored,
  recordSightings,
  standingEvidence,
  voidEvidence,
} from '../../../src/state/evidence/evidence.ts'
import {
  countAnnounced,
  countOutOfSight,
  judgedCount,
  missingIds,
  noteUnread,
  resolveMissing,
  revivedIds,
  type SweptList,
  voidSeen,
} from '../../../src/state/evidence/swept-records.ts'
import { ledger } from '../../../src/state/ledger.ts'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { resourceOf, rulesWarehouse } from '../../rules-warehouse.ts'

const warehouse = rulesWarehouse()
const expenses = resourceOf('expenses')
const hour = (number: number): string => new Date(Date.UTC(2026, 2, 1, number)).toISOString()

let made = 0
/** Expenses with these ids, loaded at hour 5 by a run of the scope `now`. */
async function stored(...names: string[]): Promise<string[]> {
  made += 1
  const ids = names.map(name => `${name}${made}`)
  await warehouse.engine.run(`insert into ops.key_scope (run_id, scope_id, api_key_id, kind, companies, agencies, scopes, observed_at)
    select 'run-1', 'now', 'k', 'company', '[]', '[]', '[]', timestamptz '${hour(0)}'
    where not exists (select 1 from ops.key_scope where run_id = 'run-1')`)
  const records = ids.map(id => ({ id, status: 'pending', createdAt: hour(1), updatedAt: hour(2) }))
  await warehouse.load(expenses, records, { at: hour(5) })
  return ids
}

const piece = (id: string, parts: object = {}) => ({
  ...{ resource: 'expenses', record_id: id, kind: 'sweep' as const, source: 'run-1', seen_at: hour(6) },
  ...parts,
})
const standing = async (id: string) =>
  (await standingEvidence(warehouse.engine, expenses, 'now')).filter(({ record_id }) => record_id === id)

describe('evidence', () => {
  test('of one kind from one source counts once', async () => {
    const [id = ''] = await stored('once')
    await recordEvidence(warehouse.engine, [piece(id)])
    await recordEvidence(warehouse.engine, [piece(id, { seen_at: hour(7) }), piece(id, { source: 'run-2' })])
    expect((await standing(id)).map(({ source, seen_at }) => [source, seen_at])).toEqual([
      ['run-1', hour(6)],
      ['run-2', hour(6)],
    ])
  })

  test.each([
    ['before', hour(4), 0],
    ['when', hour(5), 1],
    ['after', hour(6), 1],
  ])('from %s the stored version was fetched stands %s: %i', async (...[, seenAt, expected]) => {
    const [id = ''] = await stored('time')
    await recordEvidence(warehouse.engine, [piece(id, { seen_at: seenAt })])
    expect(await standing(id)).toHaveLength(expected)
  })

  test('is recorded by id only against records that are stored and live', async () => {
    const [live = '', gone = ''] = await stored('live', 'gone')
    await warehouse.engine.run(`update star.fact_expense set is_deleted = true where expense_id = '${gone}'`)
    const rows = [live, gone, 'never'].map(id => piece(id, { kind: 'by-id 404' }))
    await recordEvidenceOfStored(warehouse.engine, expenses, rows)
    const found = await warehouse.rows(
      `select record_id from ops.evidence where record_id in ('${live}', '${gone}', 'never')`,
    )
    expect(found).toEqual([{ record_id: live }])
  })

  test('that is void does not stand, and keeps the first reason', async () => {
    const [id = ''] = await stored('void')
    await recordEvidence(warehouse.engine, [piece(id)])
    await voidEvidence(
      warehouse.engine,
      { resource: 'expenses', ids: [id] },
      { at: hour(7), reason: 'first' },
    )
    await voidEvidence(
      warehouse.engine,
      { resource: 'expenses', ids: [id] },
      { at: hour(8), reason: 'second' },
    )
    expect(await standing(id)).toEqual([])
    expect(await warehouse.rows(`select void_reason from ops.evidence where record_id = '${id}'`)).toEqual([
      { void_reason: 'first' },
    ])
  })

  test('says whether the scope fetched the stored version', async () => {
    const [id = ''] = await stored('scope')
    await recordEvidence(warehouse.engine, [piece(id)])
    expect(await standing(id)).toMatchObject([{ is_fetched: true, scope_id: 'now', is_predecessors: false }])
    const [other] = (await standingEvidence(warehouse.engine, expenses, 'other')).filter(
      ({ record_id }) => record_id === id,
    )
    expect(other).toMatchObject({ is_fetched: false, is_predecessors: false })
  })
})

describe('a record on a page', () => {
  const sight = async (id: string, loadedAt: string) => {
    await warehouse.engine.run(
      `create or replace temp table stage_record as select '${id}' as record_key, timestamptz '${loadedAt}' as loaded_at, 'run-9' as run_id`,
    )
    await recordSightings(warehouse.engine, 'expenses')
  }
  test.each([
    ['at the time of', hour(6), 1],
    ['after', '2026-03-01T06:00:00.001Z', 0],
  ])('fetched %s evidence voids it: %i stand', async (...[, loadedAt, left]) => {
    const [id = ''] = await stored('sight')
    await recordEvidence(warehouse.engine, [piece(id)])
    await sight(id, loadedAt)
    expect(await standing(id)).toHaveLength(left)
  })

  test.each([
    ['at the time of', hour(6), null],
    ['after', hour(7), 'run-9'],
  ])('fetched %s its deletion ends it: by %s', async (...[, loadedAt, by]) => {
    const [id = ''] = await stored('undelete')
    const row = {
      resource: 'expenses',
      record_id: id,
      tombstoned_at: hour(7),
      run_id: 'run-1',
      evidence: '[]',
    }
    await ledger(warehouse.engine)
      .insertInto('ops.deletion')
      .values({ ...row, deleted_at: hour(6), undeleted_at: null, undeleted_by: null })
      .execute()
    await sight(id, loadedAt)
    expect(await warehouse.rows(`select undeleted_by from ops.deletion where record_id = '${id}'`)).toEqual([
      { undeleted_by: by },
    ])
  })
})

test('open cases are evidence and deletions that stand, and quarantine that waits', async () => {
  const before = await openCases(warehouse.engine, 'invoices')
  await recordEvidence(warehouse.engine, [piece('x', { resource: 'invoices' })])
  const row = {
    resource: 'invoices',
    record_id: 'x',
    path: 'p',
    text: null,
    reason: 'r',
    payload: '{}',
    page: 'p',
  }
  await ledger(warehouse.engine)
    .insertInto('ops.quarantine')
    .values([
      { ...row, quarantine_id: 'q1', run_id: 'run-1', seen_at: hour(1), resolved_at: null },
      { ...row, quarantine_id: 'q2', run_id: 'run-1', seen_at: hour(1), resolved_at: hour(2) },
    ])
    .execute()
  expect([before, await openCases(warehouse.engine, 'invoices')]).toEqual([
    { contested: 0, quarantined: 0 },
    { contested: 1, quarantined: 1 },
  ])
})

describe('a sweep', () => {
  /** Began at hour 8 and saw these ids. */
  async function swept(seen: readonly string[], parts: Partial<SweptList> = {}): Promise<SweptList> {
    made += 1
    const sweepId = `w${made}`
    const scan = { scan_id: `scan${made}`, resource: 'expenses', kind: 'sweep', sweep_id: sweepId } as const
    await openScan(warehouse.engine, freshScan({ ...scan, run_id: 'run-1', started_at: hour(8) }))
    const row = { scan_id: scan.scan_id, first_pass: 1, last_pass: 1, front_pass: null }
    const times = { existed_at: null, changed_at: null, created_at: null, updated_at: hour(2) }
    await addIds(
      warehouse.engine,
      seen.map(record_id => ({ ...row, ...times, record_id })),
    )
    return { resource: expenses, sweepId, scopeId: 'now', startedAt: hour(8), baseline: null, ...parts }
  }
  const missing = async (list: SweptList, among: readonly string[]) =>
    (await warehouse.rows(missingIds(list))).map(({ id }) => id as string).filter(id => among.includes(id))
  const count = async (sql: string) => Number((await warehouse.rows(sql))[0]?.n)

  test('finds missing what its scope has fetched before it began and it did not see', async () => {
    const ids = await stored('seen', 'missed')
    const list = await swept(ids.slice(0, 1))
    expect(await missing(list, ids)).toEqual([ids[1]])
    expect(await missing({ ...list, startedAt: hour(5) }, ids)).toEqual([])
    expect(await missing({ ...list, scopeId: 'other' }, ids)).toEqual([])
    expect(await missing({ ...list, scopeId: 'other', baseline: hour(6) }, ids)).toEqual([ids[1]])
    expect(await missing({ ...list, scopeId: 'other', baseline: hour(5) }, ids)).toEqual([])
    expect(await count(judgedCount(list))).toBe(await count(judgedCount({ ...list, sweepId: 'none' })))
  })

  test('knows rows of other scopes that it does not see as out of its sight', async () => {
    const ids = await stored('other')
    const list = await swept([], { scopeId: 'third' })
    const before = await count(countOutOfSight(list))
    expect(before).toBeGreaterThan(0)
    expect(await count(countOutOfSight(await swept(ids, { scopeId: 'third' })))).toBe(before - 1)
  })

  test('counts the missing ones that an event announced, unless the event is void', async () => {
    const ids = await stored('event', 'silent')
    const list = await swept([])
    const before = await count(countAnnounced(list))
    await recordEvidence(warehouse.engine, [
      piece(ids[0] as string, { kind: 'event', source: 'e' }),
      piece(ids[1] as string),
    ])
    expect(await count(countAnnounced(list))).toBe(before + 1)
  })

  test('voids evidence from before it began against what it saw, and no other', async () => {
    const ids = await stored('a', 'b')
    const [seen = '', other = ''] = ids
    const late = piece(seen, { source: 'late', seen_at: hour(8) })
    await recordEvidence(warehouse.engine, [piece(seen), late, piece(other)])
    await warehouse.engine.run(voidSeen(await swept([seen])))
    expect((await standing(seen)).map(({ source }) => source)).toEqual(['late'])
    expect(await standing(other)).toHaveLength(1)
  })

  test('revives tombstoned records that it saw, when they were found missing before it began', async () => {
    const ids = await stored('r1', 'r2', 'r3')
    const gone = (id: string | undefined, at: string) =>
      warehouse.engine.run(
        `update star.fact_expense set is_deleted = true, deleted_at = timestamptz '${at}' where expense_id = '${id}'`,
      )
    await gone(ids[0], hour(7))
    await gone(ids[1], hour(8))
    const revived = (await warehouse.rows(revivedIds(await swept(ids)))).map(({ id }) => id)
    expect(revived).toEqual([ids[0]])
  })

  test('notes what it saw and is not stored in that version, except what the next scan reads or quarantine holds', async () => {
    const [same = ''] = await stored('same')
    const list = await swept([same, 'unstored', 'quarantined'])
    await ledger(warehouse.engine)
      .insertInto('ops.quarantine')
      .values({
        ...{ quarantine_id: 'q9', resource: 'expenses', record_id: 'quarantined', path: 'p', text: null },
        ...{ reason: 'r', payload: '{}', page: 'p', run_id: 'run-1', seen_at: hour(1), resolved_at: null },
      })
      .execute()
    const noted = async () =>
      (await warehouse.rows(`select record_id as id from ops.unread`)).map(({ id }) => id)
    await warehouse.engine.run(noteUnread(list, hour(2)))
    expect(await noted()).toEqual([])
    await warehouse.engine.run(noteUnread(list, '2026-03-01T02:00:00.001Z'))
    await warehouse.engine.run(noteUnread(list, '2026-03-01T02:00:00.001Z'))
    expect(await noted()).toEqual(['unstored'])
  })

  test('resolves quarantine of its scope for what it did not see', async () => {
    const row = { resource: 'expenses', path: 'p', text: null, reason: 'r', payload: '{}', page: 'p' }
    const at = { run_id: 'run-1', seen_at: hour(1), resolved_at: null }
    await ledger(warehouse.engine)
      .insertInto('ops.quarantine')
      .values([
        { ...row, ...at, quarantine_id: 'm1', record_id: 'm1' },
        { ...row, ...at, quarantine_id: 'm2', record_id: 'm2' },
        { ...row, ...at, quarantine_id: 'm3', record_id: 'm3', seen_at: hour(8) },
        { ...row, ...at, quarantine_id: 'm4', record_id: 'm4', run_id: 'foreign' },
        { ...row, ...at, quarantine_id: 'm5', record_id: null },
      ])
      .execute()
    await warehouse.engine.run(resolveMissing(await swept(['m2'])))
    const resolved = await warehouse.rows(
      `select quarantine_id as id from ops.quarantine where resolved_at is not null and quarantine_id like 'm%' order by 1`,
    )
    expect(resolved).toEqual([{ id: 'm1' }])
  })
})

test('controls are live records without evidence, those of the scope first, and no more than three', async () => {
  const ids = await stored('c1', 'c2', 'c3', 'c4')
  await recordEvidence(warehouse.engine, [piece(ids[0] as string)])
  await warehouse.engine.run(
    `update star.fact_expense set loaded_at = timestamptz '${hour(20)}' where expense_id in (${ids.map(id => `'${id}'`).join(', ')})`,
  )
  expect(await controlIds(warehouse.engine, expenses, 'now')).toEqual(ids.slice(1))
})
