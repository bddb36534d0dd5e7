/** A burst of 10,000 events about 300 records costs at most 300 requests, sent by the sandbox as the service would. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { defaultIntervals } from '../../src/serve/inbox-worker.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { SECRET, served } from './served.ts'

/** A port that the receiver will listen on: the sandbox is told its address before it is there. */
const ports = { duckdb: 18_471, postgres: 18_472 }

describeOnEngines('10,000 events about 300 records', bench => {
  test('cost at most 300 requests', async () => {
    const url = `http://127.0.0.1:${ports[bench.name]}/webhook`
    const sandbox = await openSandbox({
      scale: 0.2,
      rateLimitPerDay: 1_000_000,
      rateLimitPerMinute: 100_000,
      events: { webhooks: [{ url, secret: SECRET, kind: 'company', owner: 'all' }] },
    })
    const warehouse = await bench.warehouse()
    // Two minutes ago: what was read then may be asked for again.
    const clock = { ...systemClock, now: () => Date.now() - 120_000 }
    const first = await syncOnce(sandbox, warehouse, { effects: { clock } })
    expect(first.failure).toBeUndefined()
    await served(warehouse, {
      baseUrl: sandbox.url,
      intervals: { ...defaultIntervals, minMs: 0 },
      receiver: { port: ports[bench.name] },
    })
    const before = sandbox.requests.length
    const started = performance.now()
    await sandbox.burst({ count: 10_000, records: 300 })
    await sandbox.delivered()
    const sent = performance.now() - started
    for (let tries = 0; tries < 600; tries += 1) {
      await wait(200)
      const [row] = await warehouse.engine.rows<{ n: number }>(
        `select count(*) as n from star.fact_webhook_event where state = 'done'`,
      )
      if (Number(row?.n) === 10_000) break
    }
    const facts = await warehouse.engine.rows<{ fetch_result: string; n: number }>(
      'select fetch_result, count(*) as n from star.fact_webhook_event group by 1 order by 1',
    )
    const requests = sandbox.requests.slice(before).filter(({ path }) => path !== '/me')
    console.log(
      `${bench.name}: 10,000 events in ${(sent / 1000).toFixed(1)} s cost ${requests.length} requests; ${facts
        .map(row => `${row.n} ${row.fetch_result}`)
        .join(', ')}`,
    )
    expect(facts.reduce((sum, { n }) => sum + Number(n), 0)).toBe(10_000)
    expect(facts.map(({ fetch_result }) => fetch_result).sort()).toEqual(['listed', 'read'])
    expect(requests.length).toBeLessThanOrEqual(300)
  })
})
