/** Ways in which a run ends early, and that the next one goes on from there. */
import { expect, test } from 'vitest'
import { KeyRefused } from '../../src/api/client/errors.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, rowsTouched, syncOnce } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const refusal = (status: number) => ({
  status,
  body: '{"success":false,"error":{"code":"C","message":"no"}}',
})
const statesOf = ({ resources }: RunResult) =>
  Object.fromEntries(resources.map(({ resource, state }) => [resource, state]))

describeOnEngines('a run that ends early', bench => {
  test('stops at --max-requests, and later runs ask for nothing twice', async () => {
    const records = plainRecords({ timesheets: 900, invoices: 500 })
    const request = { resources: ['timesheets', 'invoices'] }
    const undisturbed = await bench.warehouse()
    const whole = await openSandbox({ records, ...roomy })
    await syncOnce(whole, undisturbed, { request })
    const sandbox = await openSandbox({ records, ...roomy })
    const warehouse = await bench.warehouse()
    const runs: RunResult[] = []
    do {
      const limits = { maxRequests: 4 }
      runs.push(await syncOnce(sandbox, warehouse, { request: { ...request, limits } }))
      expect(runs.at(-1)!.requests).toBeLessThanOrEqual(4)
    } while (runs.at(-1)!.failure && runs.length < 20)
    expect(runs.length).toBeGreaterThan(3)
    for (const run of runs.slice(0, -1)) {
      expect(run.failure).toBeInstanceOf(BudgetSpent)
      expect(run.failure?.exitCode).toBe(75)
    }
    expect(await tables(warehouse.engine)).toEqual(await tables(undisturbed.engine))
    // Whoever completes a list that an earlier run began looks at its end again, on its last page.
    const pages = sandbox.requests.filter(
      ({ query }) => query.limit === '200' && query.sortOrder === 'asc' && query.from === undefined,
    )
    const names = pages.map(({ path, query }) => `${path} ${query.page}`)
    const twice = names.filter((name, index) => names.indexOf(name) !== index)
    const lastPages = ['/invoices 3', '/timesheets 5']
    expect(twice.filter(name => !lastPages.includes(name))).toEqual([])
    const [stopped] = await warehouse.engine.rows<{ state: string; message: string }>(
      'select state, message from ops.run order by run_id limit 1',
    )
    expect(stopped).toMatchObject({ state: 'stopped', message: expect.stringContaining('4 requests') })
  })

  test('stops at its deadline, with what was read before loaded', async () => {
    let offset = 0
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 900 }),
      ...roomy,
      onRequest: () => {
        offset += 1000
      },
    })
    const clock = { now: () => Date.now() + offset, sleep: async () => undefined }
    const warehouse = await bench.warehouse()
    const limits = { deadline: Date.now() + 4_500 }
    const request = { resources: ['timesheets'], limits }
    const outcome = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
    expect(outcome.failure).toBeInstanceOf(BudgetSpent)
    expect(outcome.failure?.message).toContain('deadline')
    expect(rowsTouched(outcome)).toBeGreaterThan(0)
    expect(rowsTouched(outcome)).toBeLessThan(900)
    const [watermark] = await warehouse.engine.rows<{ watermark: string | null }>(
      'select watermark from ops.watermark',
    )
    expect(watermark?.watermark ?? null).toBeNull()
    const next = await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
    expect(rowsTouched(outcome) + rowsTouched(next)).toBe(900)
  })

  test('stops when asked to by a signal, and goes on in the next run', async () => {
    const stopping = new AbortController()
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 900 }),
      ...roomy,
      onRequest: ({ query }) => {
        if (query.page === '3') stopping.abort(new Error('asked to stop'))
      },
    })
    const warehouse = await bench.warehouse()
    const request = { resources: ['timesheets'] }
    const outcome = await syncOnce(sandbox, warehouse, { request, effects: { signal: stopping.signal } })
    expect(outcome.failure?.exitCode).toBe(75)
    const next = await syncOnce(sandbox, warehouse, { request })
    expect(next.failure).toBeUndefined()
    expect(rowsTouched(outcome) + rowsTouched(next)).toBe(900)
  })

  test.runIf(thorough)('skips what an agency key cannot read, without asking for it', async () => {
    const sandbox = await openSandbox({ scale: 0.02, ...roomy })
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, { connection: { apiKey: sandboxKeys.agency } })
    expect(outcome.failure).toBeUndefined()
    expect(statesOf(outcome)).toMatchObject({
      key: 'done',
      users: 'done',
      timesheets: 'done',
      invoices: 'done',
      companies: 'skipped',
      'competency-matrix': 'skipped',
      'purchase-orders': 'skipped',
      assignments: 'done',
    })
    const paths = new Set(sandbox.requests.map(({ path }) => path))
    const byId = /^\/(requisitions|assignments|trades|rates)\/[\da-f]+$/
    const lists = [...paths].filter(path => !byId.test(path))
    expect(lists.sort()).toEqual(['/expenses', '/invoices', '/me', '/timesheets', '/users'])
    expect(paths.size).toBeGreaterThan(lists.length)
    expect(sandbox.violations()).toEqual([])
  })

  test('skips a resource that is refused, and reads the others', async () => {
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 3, expenses: 3, invoices: 3 }),
      ...roomy,
      intercept: ({ path }) => (path === '/expenses' ? refusal(403) : undefined),
    })
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, {
      request: { resources: ['timesheets', 'expenses', 'invoices'] },
    })
    expect(outcome.failure).toBeUndefined()
    expect(statesOf(outcome)).toEqual({ timesheets: 'done', expenses: 'skipped', invoices: 'done' })
    const access = await warehouse.engine.rows(
      `select resource, state, reason is not null as told from ops.key_access order by resource`,
    )
    expect(access).toEqual([
      { resource: 'expenses', state: 'refused', told: true },
      { resource: 'invoices', state: 'readable', told: false },
      { resource: 'timesheets', state: 'readable', told: false },
    ])
  })

  test('goes on after one 401 while /me accepts the key', async () => {
    const slips = new Set(['/timesheets', '/me', '/invoices'])
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 3, invoices: 3 }),
      ...roomy,
      intercept: ({ path }) => (slips.delete(path) ? refusal(401) : undefined),
    })
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', 'invoices'] } })
    expect([outcome.failure, statesOf(outcome)]).toEqual([
      undefined,
      { timesheets: 'done', invoices: 'done' },
    ])
  })

  test('fails with 1, and reads the other resources, where one path answers 401 and /me accepts the key', async () => {
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 3, invoices: 3 }),
      ...roomy,
      intercept: ({ path }) => (path === '/timesheets' ? refusal(401) : undefined),
    })
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', 'invoices'] } })
    expect([outcome.failure?.exitCode, statesOf(outcome)]).toEqual([
      1,
      { timesheets: 'failed', invoices: 'done' },
    ])
  })

  test('ends when the key is refused on the way, and keeps what it read', async () => {
    let isRevoked = false
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 900 }),
      ...roomy,
      intercept: ({ path, query }) => {
        isRevoked ||= query.page === '3'
        return isRevoked && (query.page === '3' || path === '/me') ? refusal(401) : undefined
      },
    })
    const warehouse = await bench.warehouse()
    const resources = ['timesheets', 'access-rules']
    const outcome = await syncOnce(sandbox, warehouse, { request: { resources } })
    expect(outcome.failure).toBeInstanceOf(KeyRefused)
    expect(outcome.failure?.exitCode).toBe(78)
    expect(statesOf(outcome)).toEqual({ timesheets: 'failed' })
    expect(sandbox.requests.filter(({ path }) => path === '/access-rule-mappings')).toEqual([])
    const [held] = await warehouse.engine.rows<{ n: number }>('select count(*) as n from star.fact_timesheet')
    expect(Number(held?.n)).toBeGreaterThan(0)
  })
})
