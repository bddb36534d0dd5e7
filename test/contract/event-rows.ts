/** The event types of section 6, each sent to a receiver of every kind that may hear it. */
import { expect } from 'vitest'
import type { EventType } from '../../src/contract/events.ts'
import { NOW, openEvents, SECRET, webhook } from '../sandbox/events/open-events.ts'
import { openReceiver, refusal } from '../sandbox/events/receiver.ts'
import { contractEvents } from './contract-events.ts'
import type { Row } from './row.ts'

async function openHooks() {
  const receiver = await openReceiver()
  const hooks = (['company', 'agency'] as const).map(kind => webhook(receiver.url, { kind, name: kind }))
  return { receiver, sandbox: await openEvents({ webhooks: hooks }) }
}

let hooks: ReturnType<typeof openHooks> | undefined

export const eventRows: readonly Row[] = contractEvents.map(({ type, key, kinds }) => ({
  kind: 'event',
  what: type,
  where: '6',
  show: async () => {
    hooks ??= openHooks()
    const { receiver, sandbox } = await hooks
    const before = { sent: sandbox.deliveries().length, received: receiver.received.length }
    const { id } = sandbox.emit(type as EventType, `record-of-${type}`)
    await sandbox.delivered()
    expect(
      sandbox
        .deliveries()
        .slice(before.sent)
        .map(one => one.webhook)
        .sort(),
    ).toEqual([...kinds].sort())
    const received = receiver.received.slice(before.received)
    expect(received).toHaveLength(kinds.length)
    for (const request of received) {
      expect(request.headers['x-service-event']).toBe(type)
      expect(request.body).toEqual({
        id,
        type,
        createdAt: new Date(NOW).toISOString(),
        data: { [key]: { id: `record-of-${type}` } },
      })
      expect(await refusal(request, { secret: SECRET, nowMs: NOW })).toBeUndefined()
    }
  },
}))
