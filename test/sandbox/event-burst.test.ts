/** Many events at once. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { records, webhook } from './event-world.ts'
import { openSandbox } from './open-sandbox.ts'
import { openReceiver } from './receiver.ts'

/** Bytes in use after a collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

it('sends 10,000 events about a few records, a few at a time, in flat memory', async () => {
  const receiver = await openReceiver()
  const webhooks = ['c1', 'c2'].map(owner => webhook(receiver.url, { owner }))
  const sandbox = await openSandbox({
    records: { ...records, invoices: records.invoices.filter(({ id }) => id !== 'i3') },
    events: { webhooks, concurrency: 4, logSize: 100 },
  })
  const ids = new Set<string>()
  const told = new Set<string | undefined>()
  let most = 0
  const round = async () => {
    await sandbox.burst({ count: 10_000, records: 30 })
    await sandbox.delivered()
    for (const { body } of receiver.received.splice(0)) {
      ids.add(body.id)
      told.add(Object.values<{ id: string }>(body.data)[0]?.id)
    }
    most = Math.max(most, receiver.mostOpen())
    return heapUsed()
  }
  const first = await round()
  expect(ids.size).toBe(10_000)
  ids.clear()
  expect((await round()) - first).toBeLessThan(2_000_000)
  expect(ids.size).toBe(10_000)
  expect([...told].sort()).toEqual(['e1', 'i1', 'i2', 's1', 's2', 't1', 't2'])
  expect(most).toBeLessThanOrEqual(8)
  expect(sandbox.deliveries()).toHaveLength(100)
  expect(sandbox.deliveries().every(({ outcome }) => outcome === 'delivered')).toBe(true)
})
