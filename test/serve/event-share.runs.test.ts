/** A burst of signed events about records that do not exist: it costs a tenth of the day, and no sync notices it. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { eventBody, post, type Served, served, signed } from './served.ts'

const still = { quietMs: 600_000, latestMs: 600_000 }

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
      const first = await served(warehouse, { baseUrl: sandbox.url, intervals: still })
      await burst(first, 200)
      await first.stop()
      // A process that has just started reads at once, and does not know how little the last read found.
      const counts: number[] = []
      for (let isSpent = false; !isSpent && counts.length < 12; ) {
        const running = await served(warehouse, { baseUrl: sandbox.url })
        await expect.poll(() => running.log.join(), { timeout: 30_000 }).toMatch(/events (asked|have)/)
        isSpent = running.log.join().includes('events have used up their share of the daily budget')
        await running.stop()
        counts.push(spent())
      }
      expect(counts[0]).toBe(share / 2)
      expect(counts.at(-1)).toBe(share)
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
