/** What a sweep that read its list is worth, and what it leaves in the ledger. */
import { describe, expect, test } from 'vitest'
import { addIds } from '../../../src/state/scans/scan-ids.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { openSweep } from '../../../src/state/scans/sweeps.ts'
import type { SweepRow } from '../../../src/state/scans/tables.ts'
import { moveWatermark } from '../../../src/state/scans/watermarks.ts'
import { judgeSweep } from '../../../src/sync/deletions/sweep-result.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, me, rulesTasks, runOfScope, type Service, type StarRow, starRows } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'fact_expense')
const resource = resourceOf('expenses')

const sweepRow = (id: string, parts: Partial<SweepRow>): SweepRow => ({
  ...{
    sweep_id: id,
    resource: 'expenses',
    scope_id: '',
    state: 'sweeping',
    started_at: hour(-1),
    ended_at: null,
  },
  ...{ earliest_day: null, run_id: 'this', total: 0, seen: 0, judged: 0, missing: 0, note: null },
  ...parts,
})

interface Case {
  /** Ids on the pages of the sweep. */
  readonly seen: readonly string[]
  readonly service?: Service
  /** When an earlier sweep of the same scope began. */
  readonly before?: string
  /** When a sweep of another scope began. */
  readonly beforeByOthers?: string
  readonly most?: number
}

/** A sweep that began an hour ago, and saw these ids with a change at hour -6. */
async function swept({ seen, service = () => undefined, before, beforeByOthers, most }: Case) {
  const task = await newTask(resource, service)
  const { engine } = warehouse
  await runOfScope(warehouse, 'before', task)
  const sweep = sweepRow('sweep', { scope_id: task.scopeId })
  await openSweep(engine, sweep)
  const earlier = (id: string, scope: string, at: string) =>
    openSweep(engine, sweepRow(id, { scope_id: scope, state: 'accepted', started_at: at }))
  if (before) await earlier('earlier', task.scopeId, before)
  if (beforeByOthers) await earlier('by others', 'another scope', beforeByOthers)
  const scan = {
    scan_id: 'scan',
    resource: 'expenses',
    kind: 'sweep',
    sweep_id: 'sweep',
    run_id: 'this',
  } as const
  await openScan(engine, freshScan({ ...scan, started_at: hour(-1) }))
  await addIds(
    engine,
    seen.map(id => ({
      ...{ scan_id: 'scan', record_id: id, first_pass: 1, last_pass: 1, front_pass: 1, existed_at: null },
      ...{ changed_at: null, created_at: hour(-8), updated_at: hour(-6) },
    })),
  )
  const judge = () => judgeSweep(task, sweep, most)
  return { task, judge }
}

const stored = (ids: readonly string[], parts?: StarRow) => starRows(warehouse, { resource, ids }, parts)
const rows = (sql: string) => warehouse.rows(sql)
const result = async () =>
  (
    await rows(`select state, seen, judged, missing, note, ended_at from ops.sweep where sweep_id = 'sweep'`)
  )[0]
const evidence = () =>
  rows(`select record_id, kind, source, seen_at, void_at, void_reason from ops.evidence order by 1, 3`)
const given = (id: string, seenAt: string, [kind, source] = ['by-id 404', 'old run']) =>
  warehouse.engine.run(
    `insert into ops.evidence (resource, record_id, kind, source, seen_at)
     values ('expenses', '${id}', '${kind}', '${source}', timestamptz '${seenAt}')`,
  )
const ids = (count: number, name = 'e'): string[] => Array.from({ length: count }, (_, n) => `${name}${n}`)

describe('a sweep is evidence', () => {
  test('against the stored records that it did not see, from when it began', async () => {
    await stored(['a', 'b', 'c'])
    const { judge } = await swept({ seen: ['a', 'b', 'new'] })
    expect(await judge()).toBeUndefined()
    expect(await evidence()).toEqual([
      { record_id: 'c', kind: 'sweep', source: 'this', seen_at: hour(-1), void_at: null, void_reason: null },
    ])
    const figures = { state: 'accepted', note: null, ended_at: hour(0) }
    const { seen, judged, missing, ...others } = (await result()) as Record<string, unknown>
    expect([others, Number(seen), Number(judged), Number(missing)]).toEqual([figures, 3, 3, 1])
    expect(await rows('select * from ops.scan_id')).toEqual([])
  })

  test('that closes quarantined records which it did not see', async () => {
    await stored(['a', 'b', 'c'])
    const { judge } = await swept({ seen: ['a', 'b'] })
    await warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('q', 'expenses', 'c', '', '', '', '', 'before', timestamptz '${hour(-3)}')`,
    )
    await judge()
    expect(await rows('select resolved_at from ops.quarantine')).toEqual([{ resolved_at: hour(-1) }])
  })
})

describe('a sweep that misses too much', () => {
  test.each([
    ['half of the list', 4, 2, undefined, 'accepted'],
    ['more than half', 4, 1, undefined, 'implausible'],
    ['as many as --max-deletions says', 4, 1, 3, 'accepted'],
    ['more than --max-deletions says', 4, 2, 1, 'implausible'],
  ] as const)('%s: %i stored, %i seen, %s: %s', async (...[, count, seen, most, state]) => {
    await stored(ids(count))
    const { judge } = await swept({ seen: ids(seen), ...(most !== undefined && { most }) })
    const doubt = await judge()
    expect((await result())?.state).toBe(state)
    expect(await evidence()).toHaveLength(state === 'accepted' ? count - seen : 0)
    if (state === 'accepted') expect(doubt).toBeUndefined()
    else expect(doubt).toMatchObject({ message: expect.stringContaining(`${count - seen} of 4 expenses`) })
    expect((await result())?.note).toBe(state === 'accepted' ? null : 'implausible')
  })

  test('is accepted when events announced what it misses', async () => {
    await stored(ids(4))
    const { judge } = await swept({ seen: ids(1) })
    for (const id of ['e1', 'e2', 'e3']) await given(id, hour(-2), ['event', `event ${id}`])
    expect(await judge()).toBeUndefined()
  })

  test('notes nothing as out of sight, and still revives what it saw', async () => {
    await stored(ids(4))
    await stored(['others'], { run: 'another key' })
    await stored(['back'], { isDeleted: true, deletedAt: hour(-3) })
    const { judge } = await swept({ seen: ['e0', 'back'], beforeByOthers: hour(-9), before: hour(-8) })
    await judge()
    expect((await result())?.state).toBe('implausible')
    expect(await rows('select * from ops.out_of_sight')).toEqual([])
    expect(await rows(`select is_deleted from star.fact_expense where expense_id = 'back'`)).toEqual([
      { is_deleted: false },
    ])
  })
})

describe('the first sweep of a scope', () => {
  test('is a baseline where the list holds rows that the scope does not show', async () => {
    await stored(['a', 'b', 'c'])
    await stored(['others', 'shown'], { run: 'another key' })
    const { judge } = await swept({ seen: ['a', 'b', 'shown'] })
    const doubt = await judge()
    expect(doubt).toMatchObject({ message: expect.stringContaining('1 are no longer visible') })
    expect(await result()).toMatchObject({ state: 'accepted', note: 'baseline' })
    expect(await evidence()).toEqual([])
    expect(await rows('select record_id from ops.out_of_sight')).toEqual([{ record_id: 'others' }])
  })

  test('is a baseline where another scope swept the list', async () => {
    await stored(['a', 'b', 'c'])
    const { judge } = await swept({ seen: ['a', 'b'], beforeByOthers: hour(-9) })
    expect(await judge()).toMatchObject({ exitCode: 3 })
    expect(await result()).toMatchObject({ state: 'accepted', note: 'baseline' })
  })

  test('is evidence where no other scope has shown or swept anything', async () => {
    await stored(['a', 'b', 'c'])
    const { judge } = await swept({ seen: ['a', 'b'] })
    expect(await judge()).toBeUndefined()
    expect(await evidence()).toHaveLength(1)
  })

  test('is followed by evidence, whatever other scopes have shown', async () => {
    await stored(['a', 'b', 'c'])
    await stored(['others'], { run: 'another key' })
    const { judge } = await swept({ seen: ['a', 'b'], before: hour(-9), beforeByOthers: hour(-8) })
    expect(await judge()).toBeUndefined()
    expect((await evidence()).map(({ record_id }) => record_id)).toEqual(['c'])
    expect(await rows('select record_id from ops.out_of_sight')).toEqual([{ record_id: 'others' }])
  })
})

describe('a record that the sweep saw', () => {
  test('frees it of evidence from before the sweep, and not of evidence from after it began', async () => {
    await stored(['a', 'b', 'c'])
    const { judge } = await swept({ seen: ['a', 'b', 'c'] })
    await given('a', hour(-2))
    await given('a', hour(-0.5), ['by-id 404', 'later run'])
    await judge()
    expect(await evidence()).toMatchObject([
      { source: 'later run', void_at: null },
      { source: 'old run', void_at: hour(-1), void_reason: 'seen by sweep sweep' },
    ])
  })

  test('is live again if it was tombstoned, with the run that counts it', async () => {
    await stored(['a', 'b', 'c'])
    await stored(['back', 'too'], { isDeleted: true, deletedAt: hour(-3) })
    const { task, judge } = await swept({ seen: ['a', 'b', 'c', 'back', 'too'] })
    await warehouse.engine.run(
      `insert into ops.deletion (resource, record_id, tombstoned_at, run_id, deleted_at, evidence)
       values ('expenses', 'back', timestamptz '${hour(-3)}', 'before', timestamptz '${hour(-3)}', '[]')`,
    )
    await given('back', hour(-4))
    await judge()
    expect(await rows(`select expense_id from star.fact_expense where is_deleted`)).toEqual([])
    expect(await rows(`select undeleted_at, undeleted_by from ops.deletion`)).toEqual([
      { undeleted_at: hour(-1), undeleted_by: 'this' },
    ])
    expect(await evidence()).toMatchObject([{ void_at: hour(-1), void_reason: 'seen by sweep sweep' }])
    expect(task.counters.rows_changed).toBe(2)
    expect((await rows(`select rows_changed from ops.run where run_id = 'this'`)).map(Object.values)).toEqual(
      [[2]],
    )
  })

  test('is in sight again', async () => {
    await stored(['a', 'b', 'c'])
    const { task, judge } = await swept({ seen: ['a', 'b'], before: hour(-9) })
    for (const id of ['a', 'c'])
      await warehouse.engine.run(
        `insert into ops.out_of_sight (resource, record_id, scope_id, since)
         values ('expenses', '${id}', '${task.scopeId}', timestamptz '${hour(-9)}')`,
      )
    await judge()
    expect(await rows('select record_id from ops.out_of_sight')).toEqual([{ record_id: 'c' }])
  })
})

describe('a record that is not stored as the sweep saw it', () => {
  test.each([
    ['before the watermark', hour(-5), ['new']],
    ['at the watermark', hour(-6), ['new']],
    ['after the watermark, as the next scan reads it', hour(-6.000_001), []],
  ])('is noted to be read, if it changed %s', async (...[, watermark, expected]) => {
    await stored(['a', 'b'])
    const { judge } = await swept({ seen: ['a', 'b', 'new'] })
    await moveWatermark(warehouse.engine, 'expenses', { watermark, run_id: 'before', moved_at: hour(-4) })
    await judge()
    expect((await rows('select record_id from ops.unread')).map(row => row.record_id)).toEqual(expected)
  })

  test('is not noted where the list has no watermark', async () => {
    const { judge } = await swept({ seen: ['new'] })
    await judge()
    expect(await rows('select * from ops.unread')).toEqual([])
  })
})

test('a sweep during which the key lost a company is refused, and forgets what it saw', async () => {
  await stored(['a', 'b', 'c'])
  const { judge } = await swept({
    seen: ['a', 'b'],
    service: ({ path }) => (path === '/me' ? { ...me, companies: [{ id: 'c1' }] } : undefined),
  })
  await expect(judge()).rejects.toMatchObject({ exitCode: 3 })
  expect(await result()).toMatchObject({ state: 'refused', note: 'changed scope', ended_at: hour(0) })
  expect(await evidence()).toEqual([])
  expect(await rows('select * from ops.scan_id')).toEqual([])
})
