/** How the scopes of a snapshot are read in turn, and what the run says of those that it could not read. */
import { describe, expect, test } from 'vitest'
import { AccessDenied, RetriableError } from '../../../src/api/client/errors.ts'
import { ServiceClock } from '../../../src/lib/service-clock.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { Incomplete } from '../../../src/sync/run/incomplete.ts'
import { syncSnapshot } from '../../../src/sync/snapshot/snapshot.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import {
  hour,
  notFound,
  rulesTasks,
  type Service,
  starRows,
  startOfTests,
  type TaskParts,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_project', 'bridge_company_user')
const users = resourceOf('user-assignments')
const denied = new AccessDenied({ request: 'GET' })
const failed = new RetriableError({ request: 'GET' }, { what: 'the service failed', next: '' })
const key = (count: number) => ({
  ...{ name: 'a key', scopes: [] },
  companies: Array.from({ length: count }, (_, n) => ({ id: `c${n + 1}` })),
})
const companyOf = (path: string): string => path.split('/')[2] ?? ''

/** One row of each company, or what the answers say. */
const answering =
  (answers: Readonly<Record<string, object>> = {}): Service =>
  ({ path, page }) => {
    const company = companyOf(path)
    return (
      answers[company] ?? (page === undefined ? { entries: [{}] } : { total: 1, records: [{ id: company }] })
    )
  }

async function synced(service: Service = answering(), parts: TaskParts = {}, resource = users) {
  const task = await newTask(resource, service, { key: key(3), ...parts })
  const error = await syncSnapshot(task).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const scans = await warehouse.rows(
    'select scan_id, scope, kind, state, from_day, to_day, started_at, run_id from ops.scan order by scan_id',
  )
  return { task, error, scans, states: scans.map(({ scope, state }) => `${scope} ${state}`) }
}
const readBefore = (scope: string, parts: object = {}) =>
  openScan(
    warehouse.engine,
    freshScan({
      ...{
        scan_id: `before ${scope}`,
        resource: 'user-assignments',
        kind: 'snapshot',
        scope,
        run_id: 'before',
      },
      ...{ state: 'accepted', started_at: hour(-9), accepted_at: hour(-9) },
      ...parts,
    }),
  )

describe('scopes', () => {
  test('are read in turn, loaded together, and shown', async () => {
    const { task, error, scans } = await synced()
    expect(error).toBeUndefined()
    expect(task.asked()).toEqual(['c1', 'c2', 'c3'].map(id => `/companies/${id}/user-assignments 1`))
    expect(task.loads.map(({ pages }) => pages.length)).toEqual([3])
    expect(scans).toEqual(
      ['c1', 'c2', 'c3'].map((scope, n) => ({
        ...{ scan_id: `this-user-assignments-000${n + 1}`, scope, kind: 'snapshot', state: 'accepted' },
        ...{ from_day: null, to_day: null, started_at: hour(0), run_id: 'this' },
      })),
    )
    expect(task.landings[0]).toBe(
      `begin this-user-assignments-0001 {"resource":"user-assignments","scope":{"company_id":"c1"},"extent":{"company_id":"= 'c1'"}}`,
    )
    expect(
      task.events.map(({ state, pagesDone, pagesTotal, rows, requests }) => [
        state,
        pagesDone,
        pagesTotal,
        rows,
        requests,
      ]),
    ).toEqual([
      ['scanning', 1, 3, 0, 1],
      ['scanning', 2, 3, 0, 2],
      ['scanning', 3, 3, 0, 3],
    ])
    expect(task.counters.note).toBeNull()
  })

  test('are opened a hundred at a time, and loaded when as many are read', async () => {
    const clock = virtualClock(startOfTests)
    const { task, scans } = await synced(answering(), {
      ...{ key: key(101), sync: { clock: new ServiceClock(clock) } },
      load: () => clock.advance(36_000),
    })
    expect(scans).toHaveLength(101)
    expect(scans.slice(-2).map(({ started_at: time }) => time)).toEqual([hour(0), hour(0.01)])
    expect(scans.at(-1)?.scan_id).toBe('this-user-assignments-0101')
    expect(task.loads.map(({ pages }) => pages.length)).toEqual([100, 1])
  })

  test('that overlap do not share a load', async () => {
    const service: Service = ({ page }) =>
      page === undefined ? undefined : { total: 1, records: [{ id: 'r' }] }
    const { task, scans } = await synced(service, { key: key(2) }, resourceOf('metric-rows'))
    expect(task.loads.map(({ pages }) => pages.length)).toEqual([2, 2])
    expect(scans.map(({ from_day: from, to_day: to }) => [from, to])).toEqual([
      ...[
        ['2025-11-29', null],
        ['2025-11-29', null],
      ],
      ...[
        [null, '2025-12-03'],
        [null, '2025-12-03'],
      ],
    ])
  })

  test('that a killed run has half read are given up, with their pages', async () => {
    await readBefore('c1', { scan_id: 'half', state: 'scanning' })
    await readBefore('c1', { scan_id: 'others', resource: 'access-rules', state: 'scanning' })
    const { task, scans } = await synced()
    expect(task.landings[0]).toBe('discard half')
    expect(scans.find(({ scan_id: id }) => id === 'half')?.state).toBe('refused')
    expect(scans.find(({ scan_id: id }) => id === 'others')?.state).toBe('scanning')
  })
})

describe('a scope that is refused', () => {
  test('leaves the others to be read, and is noted', async () => {
    const { task, error, states } = await synced(answering({ c2: denied }))
    expect(error).toBeUndefined()
    expect(states).toEqual(['c1 accepted', 'c2 refused', 'c3 accepted'])
    expect(task.counters.note).toBe('not readable for 1 of 3 scopes')
    expect(task.landings).toContain('discard this-user-assignments-0002')
  })

  test('is a failure where it was readable before', async () => {
    await readBefore('c2')
    const { error, states } = await synced(answering({ c2: denied }))
    expect(error).toMatchObject({
      message: expect.stringContaining('may no longer read user-assignments for 1 of 3 scopes'),
    })
    expect(states).toEqual(['c2 accepted', 'c1 accepted', 'c2 refused', 'c3 accepted'])
  })

  test('is not reported once it was accepted, as if it had never been readable', async () => {
    await readBefore('c2')
    const { error, scans } = await synced(answering({ c2: denied }), { sync: { acceptsRefused: true } })
    expect(error).toBeUndefined()
    expect(scans[0]?.scope).toBe('c2, no longer readable')
  })

  test('is not reported where another scope was readable', async () => {
    await readBefore('c1')
    expect((await synced(answering({ c2: denied }))).error).toBeUndefined()
  })

  test('ends the run where all are refused', async () => {
    const { error, states } = await synced(answering({ c1: denied, c2: denied, c3: denied }))
    expect(error).toBe(denied)
    expect(states).toEqual(['c1 refused', 'c2 refused', 'c3 refused'])
  })

  test.each([
    ['a part of a company, whose day has moved', 'c1 since 2025-11-01', 'c1 since 2025-12-01', true],
    ['the other part', 'c1 before 2025-11-01', 'c1 since 2025-12-01', false],
    ['one whose name only ends alike', 'c1 since 2025-11-01 x', 'c1 since 2025-12-01', false],
    ['one with a day elsewhere in its name', 'c1 2025-11-01 since', 'c1 since 2025-12-01', false],
  ])('is known by its name without the day: %s', async (...[, before, , isLost]) => {
    await readBefore(before, { resource: 'metric-rows', accepted_at: hour(-0.5) })
    const service: Service = ({ page, query }) => {
      if (page === undefined) return undefined
      return query.company === 'c1' && query.from !== undefined
        ? denied
        : { total: 1, records: [{ id: 'r' }] }
    }
    const { error } = await synced(service, { key: key(2) }, resourceOf('metric-rows'))
    expect(error !== undefined).toBe(isLost)
  })

  test('with a 404 may have been deleted: it is no failure', async () => {
    await readBefore('c2')
    const { task, error } = await synced(answering({ c2: notFound }))
    expect(error).toBeUndefined()
    expect(task.counters.note).toBe('not readable for 1 of 3 scopes')
  })
})

describe('a scope that is incomplete', () => {
  test('leaves the others to be read, and makes the resource incomplete', async () => {
    const incomplete = new Incomplete({ resource: users.name, seen: 1, expected: 3, reason: 'it changed' })
    const { task, error, states } = await synced(answering({ c2: incomplete }))
    expect(error).toMatchObject({
      message: expect.stringMatching(/^user-assignments \(saw 1 of 3\) incomplete/),
    })
    expect(states).toEqual(['c1 accepted', 'c2 refused', 'c3 accepted'])
    expect(task.counters.note).toBeNull()
  })
})

describe('a failure of the service', () => {
  test('ends the reading, with what was read loaded and what was not begun forgotten', async () => {
    const { task, error, states } = await synced(answering({ c2: failed }))
    expect(error).toBe(failed)
    expect(states).toEqual(['c1 accepted', 'c2 refused'])
    expect(task.loads).toHaveLength(1)
  })
})

describe('a quarantined record', () => {
  const quarantined = (seen: string) =>
    warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('${seen}', 'user-assignments', null, '', '', '', '', 'before', timestamptz '${seen}')`,
    )
  const closed = async () =>
    (
      await warehouse.rows(
        'select quarantine_id, resolved_at from ops.quarantine where resolved_at is not null',
      )
    ).map(({ quarantine_id: id, resolved_at: time }) => [id, time])

  test('that no scope shows any more is closed', async () => {
    await quarantined(hour(-0.001))
    await quarantined(hour(0))
    await synced()
    expect(await closed()).toEqual([[hour(-0.001), hour(0)]])
  })

  test('stays while a scope was never read', async () => {
    await quarantined(hour(-9))
    expect((await synced(answering({ c2: denied }))).error).toBeUndefined()
    expect(await closed()).toEqual([])
  })

  test('stays until the scope that was read longest ago is read again', async () => {
    for (const seen of [hour(-10), hour(-8)]) await quarantined(seen)
    await readBefore('c1', { started_at: hour(-7) })
    await readBefore('c2', { started_at: hour(-9) })
    await synced(answering({ c2: notFound }))
    expect(await closed()).toEqual([[hour(-10), hour(0)]])
  })
})

test('a scope that is not due is not read', async () => {
  const projects = resourceOf('projects')
  await starRows(warehouse, { resource: projects, ids: ['p1'] }, { columns: { company_id: `'c1'` } })
  await readBefore('c1 p1', { resource: 'competency-matrix', accepted_at: hour(-1) })
  const { task } = await synced(answering(), { key: key(1) }, resourceOf('competency-matrix'))
  expect(task.asked()).toEqual(['/companies/c1/competency-matrix'])
})
