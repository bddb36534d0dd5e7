/** Events over real HTTP: what arrives, how it is signed, what happens when the receiver fails. */
import { expect, it } from 'vitest'
import { eventTypes } from '../../../src/contract/events.ts'
import { contractEvents } from '../../contract/contract-events.ts'
import { NOW, openEvents, quickClock, SECRET, webhook } from './open-events.ts'
import { openReceiver, refusal } from './receiver.ts'

it('delivers all 42 types, each signed and with the id where the contract puts it', async () => {
  const receiver = await openReceiver()
  const sandbox = await openEvents({
    webhooks: [webhook(receiver.url), webhook(receiver.url, { kind: 'agency' })],
  })
  const sent = eventTypes.map((type, index) => sandbox.emit(type, `id-${index}`))
  await sandbox.delivered()
  const expected = contractEvents.flatMap(({ type, kinds }) => kinds.map(() => type))
  expect(receiver.received.map(({ body }) => body.type).sort()).toEqual(expected.sort())
  const keys = new Map(contractEvents.map(({ type, key }) => [type, key]))
  const byId = new Map(sent.map(event => [event.id, event]))
  expect(byId.size).toBe(42)
  for (const request of receiver.received) {
    const { headers, body } = request
    const event = byId.get(body.id)
    expect(body).toEqual({
      id: event?.id,
      type: event?.type,
      createdAt: '2026-11-02T08:00:00.000Z',
      data: { [keys.get(body.type) ?? '']: { id: event?.recordId } },
    })
    expect([request.method, request.url, headers['content-type']]).toEqual([
      'POST',
      '/hook',
      'application/json',
    ])
    expect(headers['x-service-event']).toBe(body.type)
    expect(request.rawHeaders).toContain('X-Service-Event-Id')
    expect(await refusal(request, { secret: SECRET, nowMs: NOW })).toBeUndefined()
    expect(await refusal(request, { secret: 'another', nowMs: NOW })).toBe('signature')
  }
  const ids = receiver.received.map(({ headers }) => headers['x-service-event-id'])
  expect(new Set(ids).size).toBe(receiver.received.length)
  expect(new Set(ids)).toEqual(new Set(sandbox.deliveries().map(({ id }) => id)))
  expect(sandbox.deliveries().every(({ outcome }) => outcome === 'delivered')).toBe(true)
})

it('sends the headers of the webhook, and nothing to an inactive webhook', async () => {
  const receiver = await openReceiver()
  const sandbox = await openEvents({
    webhooks: [
      webhook(receiver.url, { headers: { 'X-Tenant': 'blue' }, name: 'on' }),
      webhook(receiver.url, { active: false, name: 'off' }),
    ],
  })
  sandbox.emit('timesheet_approved', 't1')
  await sandbox.delivered()
  expect(receiver.received.map(({ headers }) => headers['x-tenant'])).toEqual(['blue'])
  expect(sandbox.deliveries().map(delivery => delivery.webhook)).toEqual(['on'])
})

it('retries after a 500 and after a timeout, with the same ids and a new signature', async () => {
  const replies = [500, 'hang', 302, 200] as const
  const receiver = await openReceiver(() => replies[receiver.received.length - 1] ?? 204)
  const sandbox = await openEvents({ webhooks: [webhook(receiver.url)], timeoutMs: 1_000 })
  const event = sandbox.emit('invoice_paid', 'i1')
  await sandbox.delivered()
  const [delivery] = sandbox.deliveries()
  const times = receiver.received.map(({ headers }) => headers['x-service-timestamp'])
  const [first, second, third, fourth] = times
  expect([first, new Set(times).size]).toEqual(['2026-11-02T08:00:00.000Z', 4])
  expect(delivery).toEqual({
    id: receiver.received[0]?.headers['x-service-event-id'],
    webhook: 'webhook 1',
    eventId: event.id,
    type: 'invoice_paid',
    recordId: 'i1',
    attempts: [
      { at: first, status: 500 },
      { at: second, error: 'timeout' },
      { at: third, status: 302 },
      { at: fourth, status: 200 },
    ],
    outcome: 'delivered',
  })
  for (const request of receiver.received) {
    expect(await refusal(request, { secret: SECRET, nowMs: NOW })).toBeUndefined()
  }
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1)
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1)
})

/** Waits between the four attempts at a receiver that always fails. */
async function waitsOfFailingDelivery(): Promise<number[]> {
  const waits: number[] = []
  const receiver = await openReceiver(() => 503)
  const retry = { attempts: 4, firstMs: 100, factor: 3 }
  const clock = quickClock(waits)
  const sandbox = await openEvents({ webhooks: [webhook(receiver.url)], retry }, { clock })
  sandbox.emit('expense_created', 'e1')
  await sandbox.delivered()
  expect(receiver.received).toHaveLength(4)
  expect(sandbox.deliveries().map(({ outcome }) => outcome)).toEqual(['failed'])
  return waits
}

it('waits longer before each attempt, the same at every run, and gives up at last', async () => {
  const waits = await waitsOfFailingDelivery()
  expect(waits).toHaveLength(3)
  for (const [index, wait] of waits.entries()) {
    const middle = 100 * 3 ** index
    expect(wait).toBeGreaterThanOrEqual(middle * 0.8)
    expect(wait).toBeLessThanOrEqual(middle * 1.2 + 1)
  }
  expect(await waitsOfFailingDelivery(), 'another run').toEqual(waits)
})

it('serves one webhook while the receiver of another hangs, and closes cleanly', async () => {
  const silent = await openReceiver(() => 'hang')
  const lively = await openReceiver()
  const sandbox = await openEvents({
    webhooks: [webhook(silent.url, { name: 'silent' }), webhook(lively.url, { name: 'lively' })],
    concurrency: 2,
  })
  for (let index = 0; index < 30; index += 1) sandbox.emit('timesheet_amended', 't1')
  await expect.poll(() => lively.received.length).toBe(30)
  expect([silent.maxOpen(), lively.maxOpen() <= 2]).toEqual([2, true])
  await sandbox.close()
  const outcomes = (name: string) =>
    new Set(
      sandbox
        .deliveries()
        .filter(delivery => delivery.webhook === name)
        .map(delivery => delivery.outcome),
    )
  expect(outcomes('lively')).toEqual(new Set(['delivered']))
  expect(outcomes('silent')).toEqual(new Set(['unsent']))
  await sandbox.delivered()
  sandbox.emit('timesheet_amended', 't1')
  expect(sandbox.deliveries()).toHaveLength(60)
})

it('logs why a receiver was not reached, and never shows the secret', async () => {
  const sandbox = await openEvents({
    webhooks: [webhook('http://127.0.0.1:1/hook')],
    retry: { attempts: 1 },
  })
  sandbox.emit('timesheet_approved', 't1')
  await sandbox.delivered()
  const [delivery] = sandbox.deliveries()
  expect([delivery?.outcome, delivery?.attempts[0]?.error]).toEqual(['failed', 'ECONNREFUSED'])
  expect(JSON.stringify(sandbox.deliveries())).not.toContain('secret-1f7c')
  expect(JSON.stringify({ ...sandbox, world: undefined })).not.toContain('secret-1f7c')
})
