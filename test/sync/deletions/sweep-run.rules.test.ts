/** What a sweep works on, and what it says when it only counts. */
import { describe, expect, test } from 'vitest'
import { AccessDenied, KeyRefused } from '../../../src/api/client/errors.ts'
import { sweepResources, swept } from '../../../src/sync/deletions/sweep-run.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, rulesTasks, runOfScope, type Service, starRows, type TaskParts } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'fact_expense', 'fact_timesheet', 'dim_trade', 'dim_site')
const expenses = resourceOf('expenses')

const counted =
  (total: number): Service =>
  ({ page }) =>
    page === undefined ? undefined : { total, records: [] }

async function run(service: Service, request: object, parts: TaskParts = {}) {
  const task = await newTask(expenses, service, parts)
  await warehouse.engine.run('delete from ops.lease')
  await runOfScope(warehouse, 'before', task)
  return { task, sweep: () => sweepResources(task.sync, { command: 'sweep', ...request } as never) }
}
const evidence = (resource: string, id: string, at = hour(-1)) =>
  warehouse.engine.run(
    `insert into ops.evidence (resource, record_id, kind, source, seen_at)
     values ('${resource}', '${id}', 'sweep', 'before', timestamptz '${at}')`,
  )

test('lists and records read by id are swept, and no snapshots', () => {
  const names = swept.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['expenses', 'trades']))
  expect(names).not.toContain('access-rules')
})

describe('a count', () => {
  const counts = { resources: ['expenses'], sweep: { counts: true } }

  test.each([
    ['as many as the service has', 3, 3, 0, '3 at the service, 3 stored'],
    ['more than the service has', 3, 2, 0, '2 at the service, 3 stored; 1 too many: muster sweep expenses'],
    [
      'fewer than the service has',
      3,
      1005,
      0,
      '1,005 at the service, 3 stored; 1,002 too few: muster sync, then muster sweep expenses',
    ],
    ['with candidates', 3, 3, 2, '3 at the service, 3 stored; 2 wait for more evidence'],
  ])('of %s costs one request, and is noted', async (...[, stored, total, candidates, note]) => {
    const { task, sweep } = await run(counted(total), counts)
    const ids = Array.from({ length: stored }, (_, n) => `e${n}`)
    await starRows(warehouse, { resource: expenses, ids })
    for (const id of ids.slice(0, candidates)) await evidence('expenses', id)
    expect(await sweep()).toMatchObject([{ resource: 'expenses', state: 'done', note, requests: 1 }])
    expect(task.requests).toMatchObject([
      { path: '/expenses', query: { fields: 'id', page: 1, limit: 1 }, purpose: 'reconcile' },
    ])
    const rows = await warehouse.rows(
      'select resource, run_id, scope_id, counted_at, total, stored from ops.list_count',
    )
    expect(rows.map(row => ({ ...row, total: Number(row.total), stored: Number(row.stored) }))).toEqual([
      { resource: 'expenses', run_id: 'this', scope_id: task.scopeId, counted_at: hour(0), total, stored },
    ])
  })
})

describe('a sweep works on', () => {
  const names = async (service: Service, request: object, parts: TaskParts = {}) => {
    const { sweep } = await run(service, request, parts)
    const outcomes = await sweep()
    return outcomes.map(({ resource, state }) => `${resource} ${state}`).sort()
  }

  test('the named lists, and nothing to compare with is no failure', async () => {
    const { task, sweep } = await run(counted(0), { resources: ['expenses', 'timesheets'] })
    const outcomes = await sweep()
    expect(outcomes.map(({ resource, state }) => `${resource} ${state}`).sort()).toEqual([
      'expenses done',
      'timesheets done',
    ])
    expect(outcomes[0]?.note).toBe('not synced yet: there is nothing to compare with')
    expect(task.requests).toEqual([])
  })

  test('all lists where none is named', async () => {
    const all = await names(counted(0), { resources: [] })
    expect(all).toEqual(expect.arrayContaining(['companies done', 'expenses done', 'users done']))
    expect(all).not.toContain('trades done')
  })

  test('records read by id that have evidence against one of them', async () => {
    await evidence('trades', 't1')
    expect(await names(counted(0), { resources: ['trades', 'rates'] })).toEqual(['trades done'])
  })

  test('no records read by id when it only counts', async () => {
    await evidence('trades', 't1')
    expect(await names(counted(0), { resources: ['trades'], sweep: { counts: true } })).toEqual([])
  })

  const agency = { key: { name: 'k', agencies: [{ id: 'a1' }], scopes: [] } }
  test('no list that its kind of key cannot read, and says so', async () => {
    expect(await names(counted(0), { resources: ['companies', 'trades'] }, agency)).toEqual([
      'companies skipped',
    ])
  })

  test.each([
    ['without evidence against one of its records', false, []],
    ['with it', true, ['sites done']],
  ])('a list that its kind of key reads by id, %s', async (...[, hasEvidence, expected]) => {
    if (hasEvidence) await evidence('sites', 's1')
    expect(await names(counted(0), { resources: ['sites'] }, agency)).toEqual(expected)
  })

  test('a list with --max-deletions as it says, with the evidence that stands', async () => {
    const { sweep } = await run(counted(0), { resources: ['trades'], sweep: { maxDeletions: 3 } })
    await starRows(warehouse, { resource: resourceOf('trades'), ids: ['t1', 't2', 't3'] })
    for (const id of ['t1', 't2', 't3'])
      for (const source of ['run 1', 'run 2']) {
        if (id === 't1')
          await warehouse.engine.run(
            `insert into ops.key_scope (run_id, scope_id, api_key_id, kind, companies, agencies, scopes, observed_at)
             select '${source}', scope_id, 'k', 'company', '[]', '[]', '[]', observed_at from ops.key_scope where run_id = 'before'`,
          )
        await warehouse.engine.run(
          `insert into ops.evidence (resource, record_id, kind, source, seen_at)
           values ('trades', '${id}', 'by-id 404', '${source}', timestamptz '${hour(-1)}')`,
        )
      }
    expect(await sweep()).toMatchObject([{ state: 'done', rows_removed: 3 }])
  })
})

describe('a failure', () => {
  const facts = { request: 'GET' }
  test('of one list leaves the others alone', async () => {
    const denied = new AccessDenied(facts)
    const { sweep } = await run(({ path }) => (path === '/expenses' ? denied : { total: 0, records: [] }), {
      resources: ['expenses', 'timesheets'],
      sweep: { counts: true },
    })
    const states = new Map((await sweep()).map(({ resource, state }) => [resource, state]))
    expect(states.get('timesheets')).toBe('done')
    expect(states.get('expenses')).not.toBe('done')
  })

  test('of the key ends the run before further lists', async () => {
    const { task, sweep } = await run(() => new KeyRefused(facts), { resources: [], sweep: { counts: true } })
    await sweep()
    expect(task.requests.length).toBeLessThan(8)
  })

  test('a stopped run asks for nothing more', async () => {
    const { task, sweep } = await run(
      counted(0),
      { resources: ['expenses'], sweep: { counts: true } },
      { sync: { signal: AbortSignal.abort() } },
    )
    expect(await sweep()).toEqual([])
    expect(task.requests).toEqual([])
  })
})
