/** Which scopes of a snapshot share a load, and what becomes of those that it does not believe. */
import { describe, expect, test } from 'vitest'
import type { LandedPage } from '../../../src/landing/landing.ts'
import { AbsenceUnconfirmed } from '../../../src/lib/errors.ts'
import { type ExtentLoss, TooManyRemoved } from '../../../src/load/merge/losses.ts'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import type { PageFile } from '../../../src/load/read/pages.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { Incomplete } from '../../../src/sync/run/incomplete.ts'
import type { TaskBatch } from '../../../src/sync/run/task-pipeline.ts'
import { isFullLoad, loadGroup, mayShareLoad } from '../../../src/sync/snapshot/load-scopes.ts'
import type { ReadScope, ScopeReading } from '../../../src/sync/snapshot/snapshot-scan.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, rulesTasks, type Service, type TaskParts } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask, landed } = rulesTasks(warehouse, 'bridge_company_user')
const resource = resourceOf('user-assignments')

const page = (sequence: number, rows = 1): LandedPage =>
  landed(`s${sequence}`, {
    ...{ sequence, page: 1, fetchedAt: hour(-sequence), runId: 'this' },
    bytes: Buffer.from(
      JSON.stringify({
        success: true,
        data: Array(rows).fill({}),
        meta: { page: 1, limit: 200, total: rows },
      }),
    ),
  })
const read = (company: string, parts: Partial<ScopeReading> = {}): ReadScope => ({
  scanId: `scan-${company}`,
  scope: {
    ...{ name: company, columns: { company_id: company }, query: {}, company },
    extent: { company_id: `= '${company}'` },
  },
  reading: { pages: [page(3), page(4)], total: 5, hidden: 1, isHiddenKnown: true, isProved: true, ...parts },
})

/** Loads what was read of these companies; `load` throws what the load would throw. */
async function loaded(
  group: readonly ReadScope[],
  load: (batch: TaskBatch, turn: number) => void = () => undefined,
  parts: TaskParts & { service?: Service } = {},
) {
  let turn = 0
  const { service = () => undefined, ...others } = parts
  const task = await newTask(resource, service, {
    ...others,
    load: batch => {
      turn += 1
      load(batch, turn)
    },
  })
  for (const { scanId, scope } of group)
    await openScan(
      warehouse.engine,
      freshScan({
        ...{ scan_id: scanId, resource: resource.name, kind: 'snapshot', scope: scope.name, run_id: 'this' },
        started_at: hour(-1),
      }),
    )
  const work = loadGroup(task, group)
  const found = await work.catch((error: unknown) => error)
  const scans = await warehouse.rows('select * from ops.scan order by scan_id')
  return { task, found, scans, states: Object.fromEntries(scans.map(row => [row.scan_id, row.state])) }
}
const stored = () =>
  warehouse.engine.run(
    `insert into star.bridge_company_user (company_user_key, company_id, user_id, run_id, loaded_at, is_deleted)
     values ('k', 'c1', 'u', 'before', timestamptz '${hour(-9)}', false)`,
  )
const loss = (parts: Partial<ExtentLoss>): ExtentLoss => ({ extent: 0, stored: 4, missing: 3, ...parts })

describe('a load', () => {
  test('has the pages of all scopes, and says which rows are whose', async () => {
    const group = [read('c1'), read('c2', { pages: [page(9)] })]
    const { task, found, scans } = await loaded(group)
    expect(found).toEqual([])
    const [batch] = task.loads
    expect(batch?.pages.map(({ sequence }) => sequence)).toEqual([3, 4, 9])
    expect(batch?.pages.map(one => batch.scope?.(one))).toEqual([
      { company_id: 'c1' },
      { company_id: 'c1' },
      { company_id: 'c2' },
    ])
    expect(batch?.scope?.(page(99))).toEqual({})
    expect(batch).toMatchObject({
      rows: 'data',
      isUnconfirmed: false,
      snapshot: [
        { extent: { company_id: `= 'c1'` }, time: hour(-4), run: 'this' },
        { extent: { company_id: `= 'c2'` }, time: hour(-9), run: 'this' },
      ],
    })
    const figures = ({ state, accepted_at: at, ...row }: Readonly<Record<string, unknown>>) => [
      state,
      at,
      ...[row.pages, row.loaded_sequence, row.last_total, row.distinct_ids].map(Number),
    ]
    expect(scans.map(figures)).toEqual([
      ['accepted', hour(0), 2, 4, 5, 4],
      ['accepted', hour(0), 1, 9, 5, 4],
    ])
  })

  test('of a scope without a page is as old as the load', async () => {
    const { task } = await loaded([read('c1', { pages: [], total: 0 })], () => {
      throw new Error('seen')
    })
    expect(task.loads[0]?.snapshot).toMatchObject([{ time: hour(0) }])
  })

  test('without a scope is empty', async () => {
    const { task, found } = await loaded([])
    expect([task.loads, found]).toEqual([[], []])
  })

  test.each([
    ['few enough', { stored: 4, missing: 2 }, {}, true],
    ['more than half', { stored: 4, missing: 3 }, {}, false],
    ['as many as --max-deletions says', { stored: 4, missing: 3 }, { maxDeletions: 3 }, true],
    ['more than --max-deletions says', { stored: 4, missing: 2 }, { maxDeletions: 1 }, false],
  ])('believes a loss of %s: %j', async (...[, lost, sync, expected]) => {
    const { task } = await loaded([read('c1')], undefined, { sync })
    expect(task.loads[0]?.allowsLoss?.(loss(lost))).toBe(expected)
  })

  test.each([
    ['is news', [{ hidden: 2, isHiddenKnown: false }, { hidden: 1 }], true],
    ['is known', [{ hidden: 2 }, { hidden: 1 }], false],
    ['is none', [{ hidden: 0, isHiddenKnown: false }, { hidden: 0 }], false],
  ])('says how many rows the service hides where that %s', async (...[, [one, other], isSaid]) => {
    const { task } = await loaded([read('c1', one), read('c2', other)])
    expect(task.counters.note !== null).toBe(isSaid)
    if (isSaid) expect(task.counters.note).toContain('3')
  })

  test('that fails for another reason gives up its scopes, and discards their pages', async () => {
    const bug = new Error('a bug')
    const { task, found, states } = await loaded([read('c1'), read('c2')], () => {
      throw bug
    })
    expect(found).toBe(bug)
    expect(states).toEqual({ 'scan-c1': 'refused', 'scan-c2': 'refused' })
    expect(task.landings).toEqual(['discard scan-c1', 'discard scan-c2'])
  })
})

describe('a scope that would lose too many rows', () => {
  test('keeps all its rows, and the others are loaded', async () => {
    const { task, found, states } = await loaded([read('c1'), read('c2'), read('c3')], (_, turn) => {
      if (turn === 1) throw new TooManyRemoved(resource.name, [loss({ extent: 1 })])
    })
    expect(states).toEqual({ 'scan-c1': 'accepted', 'scan-c2': 'refused', 'scan-c3': 'accepted' })
    expect(task.landings).toEqual(['discard scan-c2'])
    expect(found).toMatchObject([
      {
        message:
          'user-assignments (saw 1 of 4) incomplete: refusing to remove 3 of 4 rows of c2 at once: compare with the application; if they are deleted, muster sync user-assignments --max-deletions 3',
      },
    ])
  })

  test('is left out together with another one', async () => {
    const { states } = await loaded([read('c1'), read('c2'), read('c3')], (_, turn) => {
      if (turn === 1) throw new TooManyRemoved(resource.name, [loss({ extent: 0 }), loss({ extent: 1 })])
    })
    expect(states).toEqual({ 'scan-c1': 'refused', 'scan-c2': 'refused', 'scan-c3': 'accepted' })
  })

  test('alone ends the load', async () => {
    const { task, found } = await loaded([read('c1')], () => {
      throw new TooManyRemoved(resource.name, [loss({})])
    })
    expect(task.loads).toHaveLength(1)
    expect(found).toHaveLength(1)
  })

  test('is not named where it is all that the key reads', async () => {
    const whole = read('c1')
    const { found } = await loaded(
      [{ ...whole, scope: { ...whole.scope, name: 'key', columns: {} } }],
      () => {
        throw new TooManyRemoved(resource.name, [loss({})])
      },
    )
    expect(found).toMatchObject([
      { message: expect.stringContaining('refusing to remove 3 of 4 rows at once') },
    ])
  })
})

describe('a list of several pages that was read once', () => {
  const unproved = { isProved: false, total: 2, hidden: 0, pages: [page(1)] }
  const service: Service = ({ page: number }) =>
    number === undefined ? undefined : { total: 2, records: [{ id: 'a' }, { id: 'b' }] }

  test('is loaded where its rows are those that are stored', async () => {
    await stored()
    const { task } = await loaded([read('c1', unproved)], undefined, { service })
    expect(task.loads[0]?.isUnconfirmed).toBe(true)
    expect(task.requests).toEqual([])
  })

  test('is read again where they are others, and then loaded', async () => {
    await stored()
    const { task, found, states } = await loaded(
      [read('c1', unproved), read('c2')],
      ({ isUnconfirmed }) => {
        if (isUnconfirmed) throw new AbsenceUnconfirmed({ what: 'rows are missing' })
      },
      { service },
    )
    expect(task.loads.map(({ isUnconfirmed }) => isUnconfirmed)).toEqual([true, false])
    expect(task.asked()).toEqual(['/companies/c1/user-assignments 1'])
    expect([found, states]).toEqual([[], { 'scan-c1': 'accepted', 'scan-c2': 'accepted' }])
    expect(task.landings).toEqual([])
  })

  test.each([
    ['shows rows', { total: 2 }, 1],
    ['shows none', { total: 2, hidden: 2 }, 0],
  ])('is read again at once where none is stored and it %s', async (...[, parts, requests]) => {
    const { task } = await loaded([read('c1', { ...unproved, ...parts })], undefined, { service })
    expect(task.requests).toHaveLength(requests)
    expect(task.loads).toHaveLength(1)
    expect(task.loads[0]?.isUnconfirmed).toBe(requests === 0)
  })

  test('is not read again where only others show rows', async () => {
    const { task } = await loaded([read('c1', { ...unproved, total: 0 }), read('c2')], undefined, { service })
    expect(task.requests).toEqual([])
  })

  test('that changes meanwhile is left out and given up, and the others are loaded', async () => {
    const incomplete = new Incomplete({ resource: resource.name, seen: 1, expected: 3, reason: 'it changed' })
    const { task, found, states } = await loaded([read('c1', unproved), read('c2')], undefined, {
      service: () => incomplete,
    })
    expect(found).toEqual([incomplete])
    expect(states).toEqual({ 'scan-c1': 'refused', 'scan-c2': 'accepted' })
    expect(task.landings).toContain('discard scan-c1')
  })

  test('that cannot be read again gives up all', async () => {
    const bug = new Error('a bug')
    const { found, states } = await loaded([read('c1', unproved), read('c2')], undefined, {
      service: () => bug,
    })
    expect(found).toBe(bug)
    expect(states).toEqual({ 'scan-c1': 'refused', 'scan-c2': 'refused' })
  })
})

describe('a page that cannot be loaded', () => {
  test('is read again with its scope alone', async () => {
    const service: Service = ({ page: number }) =>
      number === undefined ? undefined : { total: 1, records: [{ id: 'a' }] }
    const { task, states } = await loaded(
      [read('c1'), read('c2')],
      ({ pages }, turn) => {
        if (turn === 1) throw new PageUnreadable([pages[3] as unknown as PageFile], new Error('not JSON'))
      },
      { service },
    )
    expect(task.asked()).toEqual(['/companies/c2/user-assignments 1'])
    expect(task.loads[1]?.pages).toHaveLength(3)
    expect(states).toEqual({ 'scan-c1': 'accepted', 'scan-c2': 'accepted' })
  })

  test('leaves a list unconfirmed that shares its load and was read once', async () => {
    await stored()
    const once = { isProved: false, total: 1, hidden: 0, pages: [page(1)] }
    const { task } = await loaded(
      [read('c1', once), read('c2')],
      ({ pages }, turn) => {
        if (turn === 1) throw new PageUnreadable([pages[2] as unknown as PageFile], new Error('not JSON'))
      },
      { service: ({ page: number }) => (number ? { total: 1, records: [{ id: 'a' }] } : undefined) },
    )
    expect(task.asked()).toEqual(['/companies/c2/user-assignments 1'])
    expect(task.loads.map(({ isUnconfirmed }) => isUnconfirmed)).toEqual([true, true])
  })

  test('a second time ends the load', async () => {
    const bad = page(1)
    const unreadable = new PageUnreadable([bad as unknown as PageFile], new Error('not JSON'))
    const { task, found, states } = await loaded([read('c1')], () => {
      throw unreadable
    })
    expect(found).toBe(unreadable)
    expect(task.loads).toHaveLength(2)
    expect(states).toEqual({ 'scan-c1': 'refused' })
  })
})

test('an accepted scan keeps its pages when the answer to its commit was lost', async () => {
  const { task, states } = await loaded([read('c1')], () => undefined)
  expect(states).toEqual({ 'scan-c1': 'accepted' })
  expect(task.landings).toEqual([])
})

describe('scopes share a load', () => {
  const bytes = (size: number): readonly LandedPage[] => [{ ...page(1), bytes: size }]
  test.each([
    [99, 1, false],
    [100, 1, true],
    [2, 7_999_999, false],
    [2, 8_000_000, true],
    [0, 1, false],
  ])('until it is full: %i scopes of %i bytes: %s', (scopes, size, expected) => {
    const one = bytes(size)
    expect(isFullLoad(Array.from({ length: scopes }, () => one))).toBe(expected)
  })

  test.each([
    ['metric-rows', ['c1'], 'c1', false],
    ['metric-rows', ['c2', 'c3'], 'c1', true],
    ['metric-rows', ['c2', 'c1'], 'c1', false],
    ['metric-rows', [], 'c1', true],
    ['competency-matrix', ['c1'], 'c1', true],
  ])('unless two parts of one company overlap: %s, %j with %s: %s', (...[name, group, next, expected]) => {
    const extents = group.map(company => ({ company_id: `= '${company}'` }))
    expect(mayShareLoad(resourceOf(name), extents, { company_id: `= '${next}'` })).toBe(expected)
  })
})
