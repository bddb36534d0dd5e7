/** What an incremental sync costs: requests by how much changed since the last one. */

import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { recordSent } from '../../src/state/requests/key-state.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, rowsTouched, syncOnce } from '../support/warehouse-fixture.ts'
import { type PlainCollection, plainMakers, plainRecords, timeOf } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }

describeOnEngines('incremental requests', bench => {
  for (const name of ['timesheets', 'invoices'] as const satisfies PlainCollection[]) {
    test.runIf(thorough || name === 'timesheets')(
      `${name}: at most a page per 200 changes and two more`,
      async () => {
        const sandbox = await openSandbox({ records: plainRecords({ [name]: 450 }), ...roomy })
        const warehouse = await bench.warehouse()
        const sync = async () => {
          const before = sandbox.requests.length
          const outcome = await syncOnce(sandbox, warehouse, { request: { resources: [name] } })
          expect(outcome.failure).toBeUndefined()
          const sent = sandbox.requests.slice(before)
          expect(sent.filter(({ path }) => path === '/me')).toHaveLength(1)
          expect(outcome.requests).toBe(sent.length)
          const probes = sent.filter(({ query }) => query.fields === 'id').length
          return { asked: sent.length - 1 - probes, probes, touched: rowsTouched(outcome) }
        }
        expect((await sync()).touched).toBe(450)
        let at = 450
        let probed = 0
        for (const changes of [0, 1, 199, 200, 201, 400]) {
          for (let change = 0; change < changes; change += 1, at += 1) {
            const record = { ...plainMakers[name](change), status: `changed ${at}`, updatedAt: timeOf(at) }
            sandbox.world.upsert(name, record)
          }
          const { asked, probes, touched } = await sync()
          expect(touched).toBe(changes)
          // Once, when an old record has changed: whether the service filters by the time that it is asked for.
          probed += probes
          expect(probed).toBeLessThanOrEqual(1)
          expect({ changes, asked }).toSatisfy(() => asked <= Math.ceil(changes / 200) + 2)
          if (changes === 0) expect(asked).toBe(1)
        }
        expect(sandbox.violations()).toEqual([])
      },
    )
  }

  test.runIf(thorough)(
    'two requests at most when nothing changed, though the last page holds a single row',
    async () => {
      const records = plainRecords({ timesheets: 201, invoices: 201 }, { minutesApart: 5 })
      const sandbox = await openSandbox({ records, ...roomy })
      const warehouse = await bench.warehouse()
      for (const resource of ['timesheets', 'invoices']) {
        const request = { resources: [resource] }
        await syncOnce(sandbox, warehouse, { request })
        const again = await syncOnce(sandbox, warehouse, { request })
        expect({ resource, asked: again.requests - 1, touched: rowsTouched(again) }).toEqual({
          resource,
          asked: 2,
          touched: 0,
        })
      }
    },
  )

  test('a bulk of one time is read again only until no later record can have that time', async () => {
    const { companies, invoices = [] } = plainRecords({ invoices: 250 })
    const updatedAt = timeOf(0)
    const sandbox = await openSandbox({
      records: { companies, invoices: invoices.map(one => ({ ...one, updatedAt })) } as WorldRecords,
      ...roomy,
    })
    const warehouse = await bench.warehouse()
    const asked = async (minutes: number) => {
      const clock = { now: () => Date.parse(updatedAt) + minutes * 60_000, sleep: async () => undefined }
      const request = { resources: ['invoices'] }
      return (await syncOnce(sandbox, warehouse, { request, effects: { clock } })).requests - 1
    }
    // The first reading, and the total before it; then twice the lookback has to pass before a scan begins.
    expect([await asked(10), await asked(20), await asked(41)]).toEqual([3, 2, 2])
    expect([await asked(42), await asked(1000)]).toEqual([1, 1])
    sandbox.world.upsert('invoices', { ...plainMakers.invoices(7), updatedAt: timeOf(1) })
    expect(await asked(1010)).toBe(1)
  })

  test('a small list in which nothing changed costs one request, whatever the resource', async () => {
    const sandbox = await openSandbox({ scale: 0.02, ...roomy })
    const warehouse = await bench.warehouse()
    const resources = ['companies', 'projects', 'sites', 'users', 'timesheets', 'expenses', 'invoices']
    await syncOnce(sandbox, warehouse, { request: { resources } })
    const before = sandbox.requests.length
    expect(rowsTouched(await syncOnce(sandbox, warehouse, { request: { resources } }))).toBe(0)
    const sent = sandbox.requests.slice(before).map(({ path }) => path)
    expect(sent.sort()).toEqual(['/me', ...resources.map(name => `/${name}`)].sort())
  })

  test.runIf(thorough)('an empty list costs one request', async () => {
    const sandbox = await openSandbox({ records: plainRecords({}), ...roomy })
    const warehouse = await bench.warehouse()
    for (const most of [3, 2, 2]) {
      const outcome = await syncOnce(sandbox, warehouse, { request: { resources: ['invoices'] } })
      expect(outcome.failure).toBeUndefined()
      expect(outcome.requests).toBeLessThanOrEqual(most)
    }
  })

  test('asks /me at most once in 15 minutes of a run', async () => {
    let offset = 0
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 1900 }),
      ...roomy,
      onRequest: ({ path }) => {
        if (path === '/timesheets') offset += 6 * 60_000
      },
    })
    const clock = { now: () => Date.now() + offset, sleep: async () => undefined }
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, {
      request: { resources: ['timesheets'] },
      effects: { clock },
    })
    expect(outcome.failure).toBeUndefined()
    const asked = sandbox.requests.filter(({ path }) => path === '/me').length
    const pages = sandbox.requests.length - asked
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThanOrEqual(1 + Math.floor((pages * 6) / 15))
  })

  test('asks /me as often as the last reported limits allow, whichever resources that run read', async () => {
    const sandbox = await openSandbox({ records: plainRecords({ invoices: 3 }), ...roomy })
    const warehouse = await bench.warehouse()
    const request = { resources: ['invoices'] }
    const first = await syncOnce(sandbox, warehouse, { request })
    expect(first.resources.map(({ resource }) => resource)).toEqual(['invoices'])
    // More than the 60 a minute that are safe to send before anything is known of a key.
    await recordSent(warehouse.engine, new Map([[Math.floor(Date.now() / 1000), 90]]))
    expect((await syncOnce(sandbox, warehouse, { request })).milliseconds).toBeLessThan(10_000)
  })

  test('adds to what the run before it sent in the same second', async () => {
    const sandbox = await openSandbox({ records: plainRecords({ invoices: 3 }), ...roomy })
    const warehouse = await bench.warehouse()
    const at = Date.now()
    await recordSent(warehouse.engine, new Map([[Math.floor(at / 1000), 30]]))
    const clock = { now: () => at, sleep: systemClock.sleep }
    const { requests } = await syncOnce(sandbox, warehouse, {
      ...{ request: { resources: ['invoices'] }, effects: { clock } },
    })
    const [sent] = await warehouse.engine.rows<{ n: number }>('select sum(requests) as n from ops.sent')
    expect(Number(sent?.n)).toBe(30 + requests)
  })

  test('forgets at the end of a run which requests were sent more than two minutes ago', async () => {
    const sandbox = await openSandbox({ records: plainRecords({ invoices: 3 }), ...roomy })
    const warehouse = await bench.warehouse()
    const now = Math.floor(Date.now() / 1000)
    await recordSent(warehouse.engine, new Map([now - 600, now - 60].map(second => [second, 1])))
    await syncOnce(sandbox, warehouse, { request: { resources: ['invoices'] } })
    const seconds = (await warehouse.engine.rows<{ second: number }>('select second from ops.sent')).map(
      row => Number(row.second),
    )
    expect(seconds).toContain(now - 60)
    expect(seconds).not.toContain(now - 600)
  })
})
