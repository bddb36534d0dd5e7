/** What may go wrong with events between the sandbox and their receiver, by seed. */
import { describe, expect, it, test } from 'vitest'
import type { EventType } from '../../src/contract/events.ts'
import {
  type FaultyEventOptions,
  NOW,
  openFaultyEvents,
  quickClock,
  SECRET,
  webhook,
} from '../sandbox/events/open-events.ts'
import { openReceiver, type Received, refusal } from '../sandbox/events/receiver.ts'
import type { EventFaultRates, TreatedDelivery, Treatment } from './event-relay.ts'

const types: readonly EventType[] = ['timesheet_approved', 'timesheet_amended', 'timesheet_unapproved']

/** Everything that 120 events of one seed lead to; forged deliveries are answered 401. */
async function send(events: FaultyEventOptions, seed = 1) {
  const accepted: Received[] = []
  const refused: Received[] = []
  const receiver = await openReceiver()
  const slept: number[] = []
  const sandbox = await openFaultyEvents(
    { webhooks: [webhook(receiver.url)], ...events },
    { seed, clock: quickClock(slept) },
  )
  const emitted = Array.from({ length: 120 }, (_, index) =>
    sandbox.emit(types[index % types.length] ?? 'timesheet_approved', 't1'),
  )
  await sandbox.delivered()
  for (const request of receiver.received) {
    const reason = await refusal(request, { secret: SECRET, nowMs: NOW })
    ;(reason ? refused : accepted).push(request)
  }
  const deliveries = sandbox.deliveries()
  const ids = emitted.map(event => event.id)
  return { receiver, slept, ids, deliveries, accepted, refused }
}

function treated(deliveries: readonly TreatedDelivery[], treatment: Treatment): readonly TreatedDelivery[] {
  return deliveries.filter(({ treatments }) => treatments.includes(treatment))
}

const arrived = (requests: readonly Received[]) => requests.map(({ body }) => body.id as string)

describe('faults', () => {
  it('has none unless asked', async () => {
    const { deliveries, ids, accepted } = await send({ concurrency: 1 })
    expect(deliveries.flatMap(({ treatments }) => treatments)).toEqual([])
    expect(arrived(accepted)).toEqual(ids)
  })

  it('duplicate: the same event under two delivery ids', async () => {
    const { deliveries, ids, accepted } = await send({ faults: { duplicate: 0.3 } })
    const twice = treated(deliveries, 'duplicated').map(({ eventId }) => eventId)
    expect(twice.length).toBeGreaterThan(20)
    expect(twice.length).toBeLessThan(55)
    expect(arrived(accepted).sort()).toEqual([...ids, ...twice].sort())
    expect(new Set(accepted.map(({ headers }) => headers['x-service-event-id'])).size).toBe(accepted.length)
  })

  it('loss: logged, never sent', async () => {
    const { deliveries, ids, accepted } = await send({ faults: { loss: 0.3 } })
    const lost = treated(deliveries, 'lost')
    expect(lost.length).toBeGreaterThan(20)
    expect(lost.every(({ outcome, attempts }) => outcome === 'lost' && attempts.length === 0)).toBe(true)
    const gone = new Set(lost.map(({ eventId }) => eventId))
    expect(arrived(accepted).sort()).toEqual(ids.filter(id => !gone.has(id)).sort())
  })

  it('reorder: overtaken by up to three later events', async () => {
    const { deliveries, ids, accepted } = await send({ faults: { reorder: 0.2 }, concurrency: 1 })
    const held = new Set(treated(deliveries, 'reordered').map(({ eventId }) => eventId))
    expect(held.size).toBeGreaterThan(10)
    const order = arrived(accepted)
    expect([...order].sort()).toEqual([...ids].sort())
    expect(order.filter(id => !held.has(id))).toEqual(ids.filter(id => !held.has(id)))
    for (const id of [...held].filter(id => ids.indexOf(id) < ids.length - 12)) {
      const before = order.slice(0, order.indexOf(id))
      const overtakers = before.filter(other => !held.has(other) && ids.indexOf(other) > ids.indexOf(id))
      expect(overtakers.length).toBeGreaterThanOrEqual(1)
      expect(overtakers.length).toBeLessThanOrEqual(3)
    }
  })

  it('delay: late by up to the longest delay', async () => {
    const { deliveries, ids, accepted, slept } = await send({ faults: { delay: 0.3 }, delayMs: 900 })
    const late = treated(deliveries, 'delayed')
    expect(late.length).toBeGreaterThan(20)
    expect(slept).toHaveLength(late.length)
    expect(Math.max(...slept)).toBeLessThanOrEqual(900)
    expect(Math.max(...slept) - Math.min(...slept)).toBeGreaterThan(500)
    expect(arrived(accepted).sort()).toEqual([...ids].sort())
  })

  const forgeries = [
    ['badSignature', 'signature'],
    ['staleTimestamp', 'timestamp'],
    ['tamperedBody', 'signature'],
    ['missingHeader', 'header'],
  ] as const

  test.each(forgeries)(
    '%s: beside the genuine ones, of events that never happened',
    async (fault, reason) => {
      const { deliveries, ids, accepted, refused } = await send({ faults: { [fault]: 0.4 } })
      const forged = treated(deliveries, fault)
      expect(forged.length).toBeGreaterThan(25)
      expect(arrived(accepted).sort()).toEqual([...ids].sort())
      expect(arrived(refused).sort()).toEqual(forged.map(({ eventId }) => eventId).sort())
      expect(arrived(refused).filter(id => ids.includes(id))).toEqual([])
      for (const request of refused) {
        expect(await refusal(request, { secret: SECRET, nowMs: NOW })).toBe(reason)
      }
      if (fault !== 'missingHeader') return
      const has = (name: string) => refused.filter(({ headers }) => headers[name] !== undefined).length
      expect(has('x-service-signature') + has('x-service-timestamp')).toBe(refused.length)
      expect(has('x-service-signature')).toBeGreaterThan(5)
      expect(has('x-service-timestamp')).toBeGreaterThan(5)
    },
  )

  it('does not retry a forgery after a refusal', async () => {
    const receiver = await openReceiver(() => 401)
    const sandbox = await openFaultyEvents({
      webhooks: [webhook(receiver.url)],
      faults: { badSignature: 1 },
      retry: { attempts: 3 },
    })
    sandbox.emit('timesheet_approved', 't1')
    await sandbox.delivered()
    const attempts = sandbox
      .deliveries()
      .map(({ treatments, attempts, outcome }) => [...treatments, attempts.length, outcome])
    expect(attempts).toEqual([
      [3, 'failed'],
      ['badSignature', 1, 'refused'],
    ])
  })

  it('draws the same faults for the same seed, and one fault does not move the others', async () => {
    const all: EventFaultRates = {
      duplicate: 0.2,
      reorder: 0.2,
      delay: 0.2,
      loss: 0.1,
      badSignature: 0.1,
      staleTimestamp: 0.1,
      tamperedBody: 0.1,
      missingHeader: 0.1,
    }
    const fates = async (faults: EventFaultRates, seed: number) => {
      const { deliveries } = await send({ faults, delayMs: 100 }, seed)
      return deliveries.map(({ id, eventId, treatments }) => [id, eventId, ...treatments].join(' '))
    }
    const first = await fates(all, 5)
    expect(await fates(all, 5)).toEqual(first)
    expect(await fates(all, 6)).not.toEqual(first)
    const lost = async (faults: EventFaultRates) => {
      const { deliveries, ids } = await send({ faults, delayMs: 100 }, 5)
      return treated(deliveries, 'lost').map(({ eventId }) => ids.indexOf(eventId))
    }
    expect(await lost(all)).toEqual(await lost({ loss: 0.1 }))
  })
})
