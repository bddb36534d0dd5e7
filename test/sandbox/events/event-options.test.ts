/** The options of events: how they are spelled, and what is refused. */
import { describe, expect, test } from 'vitest'
import type { EventType } from '../../../src/contract/events.ts'
import type { EventOptions } from '../../../src/sandbox/events/webhook.ts'
import { NOW, openEvents, SECRET, webhook } from './open-events.ts'
import { openReceiver, refusal } from './receiver.ts'

describe('spelling', () => {
  const cases = (['hex', 'base64'] as const).flatMap(encoding =>
    (['', 'sha256='] as const).flatMap(prefix =>
      (['iso', 'seconds', 'milliseconds'] as const).map(timestamp => ({ encoding, prefix, timestamp })),
    ),
  )
  const shapes = { iso: /^\d{4}-.*Z$/, seconds: /^\d{10}$/, milliseconds: /^\d{13}$/ }

  test.each(cases)('$encoding, "$prefix", $timestamp', async ({ encoding, prefix, timestamp }) => {
    const receiver = await openReceiver()
    const sandbox = await openEvents({
      webhooks: [webhook(receiver.url)],
      signature: { encoding, prefix },
      timestamp,
      headerPrefix: 'X-Acme',
    })
    sandbox.emit('expense_approved', 'e1')
    await sandbox.delivered()
    const request = receiver.received[0]!
    expect(request.headers['x-acme-timestamp']).toMatch(shapes[timestamp])
    const reading = { secret: SECRET, nowMs: NOW, encoding, prefix, headerPrefix: 'x-acme' }
    expect(await refusal(request, reading)).toBeUndefined()
    expect(
      Object.keys(request.headers)
        .filter(name => name.startsWith('x-'))
        .sort(),
    ).toEqual(['x-acme-event', 'x-acme-event-id', 'x-acme-signature', 'x-acme-timestamp'])
  })
})

describe('refuses', () => {
  const url = 'http://127.0.0.1:1/hook'
  test.each<[string, EventOptions, string]>([
    ['a header prefix with spaces', { headerPrefix: 'X Service' }, 'headers cannot begin with X Service'],
    ['an address of another kind', { webhooks: [webhook('ftp://x/')] }, 'has no usable URL'],
    ['a password in an address', { webhooks: [webhook('http://a:b@x/')] }, 'has no usable URL'],
    ['no secret', { webhooks: [webhook(url, { secret: '' })] }, 'has no signing secret'],
    ['an owner of nowhere', { webhooks: [webhook(url, { owner: 'a1' })] }, 'belongs to no company'],
    [
      'a header of its own',
      { webhooks: [webhook(url, { headers: { 'x-service-event': 'x' } })] },
      'x-service',
    ],
    ['a header of the wire', { webhooks: [webhook(url, { headers: { Host: 'x' } })] }, 'header Host'],
    ['a header of two lines', { webhooks: [webhook(url, { headers: { 'X-A': 'a\nb' } })] }, 'header X-A'],
    ['a type of its own', { webhooks: [webhook(url, { events: ['x' as EventType] })] }, 'not an event type'],
  ])('%s', async (_, events, message) => {
    await expect(openEvents(events)).rejects.toThrow(message)
  })
})
