/** A burst of signed events about records that do not exist: it costs a tenth of the day, and no sync notices it. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { eventBody, post, type Served, served, signed } from './served.ts'

/** A tenth of the day. */
const share = 80
const limits = { scale: 0.003, rateLimitPerDay: 10 * share, rateLimitPerMinute: 100_000 }

async function burst(running: Served, count: number): Promise<void> {
  const bodies = Array.from({ length: count }, (_, index) =>
    eventBody(`evt_${index}`, 'trade_amended', { trade: { id: `gone${index}` } }),
  )
  for (let from = 0; from < count; from += 50) {
    const statuses = await Promise.all(
      bodies.slice(from, from + 50).map(body => post(running.url, signed(body))),
    )
    expect(new Set(statuses)).toEqual(new Set([202]))
  }
}

describeOnEngines(
  'a burst of events about unknown records',
  bench => {
    test('takes at most its share of the day over several processes, and the next sync ends well', async () => {
      const sandbox = await openSandbox(limits)
      const warehouse = await bench.warehouse()
      const request = { resources: ['requisitions', 'timesheets', 'trades'] }
      expect((await syncOnce(sandbox, warehouse, { request })).failure?.exitCode ?? 0).not.toBe(78)
      const before = sandbox.requests.length
      const spent = (): number => sandbox.requests.length - before
      const serve = () =>
        served(warehouse, { baseUrl: sandbox.url, intervals: { quietMs: 300, latestMs: 30_000 } })
      const counts: number[] = []
      const first = await serve()
      await burst(first, 300)
      await expect.poll(spent, { timeout: 8000 }).toBeGreaterThan(20)
      await wait(500)
      counts.push(spent())
      await first.stop()
      // A process that has just started reads at once.
      for (let restarts = 0; restarts < 12 && spent() < share * 0.9; restarts += 1) {
        const again = await serve()
        await expect.poll(spent, { timeout: 8000 }).toBeGreaterThan(counts.at(-1) ?? 0)
        await again.stop()
        counts.push(spent())
      }
      const last = await serve()
      await wait(500)
      await last.stop()
      counts.push(spent())
      // The first read takes half of what is left, and the limits of the key count as well.
      expect(counts[0]).toBeLessThanOrEqual(share / 2)
      expect(counts.at(-1)).toBeLessThanOrEqual(share)
      expect(counts.at(-1)).toBeGreaterThanOrEqual(share * 0.9)
      const used = sandbox.requests.length
      const next = await syncOnce(sandbox, warehouse, { request })
      expect(next.failure).toBeUndefined()
      const asked = sandbox.requests.slice(used).filter(({ path }) => path.includes('gone'))
      expect(asked.length + (counts.at(-1) ?? 0)).toBeLessThanOrEqual(share)
      const note = next.resources.find(({ resource }) => resource === 'trades')?.note
      expect(note).toMatch(/\d+ named by events only, which have a share of the day/)
    })
  },
  'all',
)
