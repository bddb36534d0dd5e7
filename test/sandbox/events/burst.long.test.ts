/** Many events at once. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { openSandbox } from '../open-sandbox.ts'
import { records, webhook } from './open-events.ts'
import { openReceiver } from './receiver.ts'

/** Bytes in use after a collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

it('sends 10,000 events about a few records, a few at a time, in flat memory', async () => {
  const ids = new Set<string>()
  const told = new Set<string | undefined>()
  let maxWaiting = 0
  const receiver = await openReceiver(({ body }) => {
    ids.add(body.id)
    told.add(Object.values<{ id: string }>(body.data)[0]?.id)
    receiver.received.length = 0
    if (ids.size % 500 === 0) {
      const waiting = sandbox.deliveries().filter(({ outcome }) => outcome === 'waiting')
      maxWaiting = Math.max(maxWaiting, waiting.length)
    }
    return 204
  })
  const webhooks = ['c1', 'c2'].map(owner => webhook(receiver.url, { owner }))
  const sandbox = await openSandbox({
    records: { ...records, invoices: records.invoices.filter(({ id }) => id !== 'i3') },
    events: { webhooks, concurrency: 4, logSize: 1200 },
  })
  const round = async (count: number) => {
    await sandbox.burst({ count, records: 30 })
    await sandbox.delivered()
    expect(ids.size).toBe(count)
    ids.clear()
    return heapUsed()
  }
  // As many as the log ever holds: it drops its older half when it is twice full.
  const before = await round(2400)
  // Measured: half a megabyte.
  expect((await round(10_000)) - before).toBeLessThan(1_500_000)
  expect([...told].sort()).toEqual(['e1', 'i1', 'i2', 't1', 't2'])
  expect(maxWaiting).toBeGreaterThan(400)
  expect(maxWaiting).toBeLessThanOrEqual(1000)
  expect(receiver.maxOpen()).toBeLessThanOrEqual(8)
  expect(sandbox.deliveries()).toHaveLength(1200)
  expect(sandbox.deliveries().every(({ outcome }) => outcome === 'delivered')).toBe(true)
})
