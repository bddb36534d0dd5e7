/** Who is told what: by kind of webhook, by owner, by what an agency has to do with a record. */
import { describe, expect, it, test } from 'vitest'
import { type EventType, eventTypes } from '../../../src/contract/events.ts'
import { type Audience, audienceOf } from '../../../src/sandbox/events/audience.ts'
import { isSubscribed, type Webhook } from '../../../src/sandbox/events/webhook.ts'
import { contractEvents } from '../../contract/contract-events.ts'
import { openEvents, webhook } from './open-events.ts'
import { openReceiver } from './receiver.ts'

describe('the matrix of types and kinds', () => {
  const url = 'http://127.0.0.1:1/hook'
  test.each(contractEvents)('$type', async ({ type, kinds }) => {
    for (const kind of ['company', 'agency'] as const) {
      const events = [type as EventType]
      const saved = openEvents({ webhooks: [webhook(url, { kind, events })] })
      if (kinds.includes(kind)) await (await saved).close()
      else await expect(saved).rejects.toThrow(`cannot subscribe to ${type}`)
      // A subscription from before the rules is told no more than the rules allow.
      const old: Webhook = {
        ...webhook(url, { kind }),
        ...{ name: 'old', owner: 'x', headers: {}, active: true, events: new Set(eventTypes) },
      }
      expect(isSubscribed(old, type as EventType, undefined)).toBe(kinds.includes(kind))
    }
  })
})

describe('by owner', () => {
  /** The names of the webhooks that are told. */
  async function told(type: EventType, id: string, audience?: Audience) {
    const receiver = await openReceiver()
    const owners = [
      { kind: 'company', owner: 'c1' },
      { kind: 'company', owner: 'c2' },
      { kind: 'agency', owner: 'a1' },
      { kind: 'agency', owner: 'a2' },
    ] as const
    const sandbox = await openEvents({
      webhooks: owners.map(parts => webhook(receiver.url, { ...parts, name: parts.owner })),
    })
    sandbox.emit(type, id, audience)
    await sandbox.delivered()
    expect(receiver.received).toHaveLength(sandbox.deliveries().length)
    return sandbox.deliveries().map(delivery => delivery.webhook)
  }

  interface Case {
    readonly what: string
    readonly type: EventType
    readonly id: string
    readonly audience?: Audience
    readonly expected: readonly string[]
  }
  const everybody = ['c1', 'c2', 'a1', 'a2']
  const shared = { companyId: 'c2', agencyIds: ['a1', 'a2'] }
  const released = { companyId: 'c1', agencyIds: ['a2'] }

  test.each<Case>([
    { what: 'a record of the world', type: 'timesheet_approved', id: 't1', expected: ['c1', 'a1'] },
    { what: 'another of other owners', type: 'timesheet_approved', id: 't2', expected: ['c2', 'a2'] },
    { what: 'an expense', type: 'expense_created', id: 'e1', expected: ['c1', 'a2'] },
    { what: 'an invoice', type: 'invoice_created', id: 'i1', expected: ['c1', 'a1'] },
    { what: 'an invoice from provider to client', type: 'invoice_created', id: 'i2', expected: ['c1'] },
    { what: 'a draft of an invoice', type: 'invoice_created', id: 'i3', expected: [] },
    { what: 'an id of nowhere', type: 'credit_note_created', id: 'n1', expected: everybody },
    { what: 'one for companies only', type: 'rate_amended', id: 'r1', expected: ['c1', 'c2'] },
    {
      what: 'a audience given',
      type: 'assignment_ended',
      id: 's9',
      audience: shared,
      expected: ['c2', 'a1', 'a2'],
    },
    {
      what: 'a audience without agency',
      type: 'assignment_ended',
      id: 's9',
      audience: { companyId: 'c2' },
      expected: ['c2'],
    },
    {
      what: 'one for agencies only',
      type: 'requisition_received',
      id: 'q1',
      audience: released,
      expected: ['a2'],
    },
  ])('$what', async ({ type, id, audience, expected }) => {
    expect(await told(type, id, audience)).toEqual(expected)
  })
})

it('refuses other types', async () => {
  const sandbox = await openEvents({})
  expect(() => sandbox.emit('timesheet_eaten' as EventType, 't1')).toThrow(
    'there is no event type timesheet_eaten',
  )
})

it('tells a webhook only what it subscribed to', async () => {
  const receiver = await openReceiver()
  const sandbox = await openEvents({
    webhooks: [webhook(receiver.url, { events: ['timesheet_amended', 'timesheet_deleted'] })],
  })
  for (const type of eventTypes) sandbox.emit(type, 'x')
  await sandbox.delivered()
  expect(receiver.received.map(({ body }) => body.type).sort()).toEqual([
    'timesheet_amended',
    'timesheet_deleted',
  ])
})

describe('agencies of a requisition', () => {
  const requisition = {
    company: { id: 'c1' },
    approvalStages: [{ stage: 1, approved: true }],
    agencies: [
      { id: 'asked', dateReceived: '2026-10-01T00:00:00.000Z', assigned: 0, submissions: [] },
      { id: 'rejected', dateReceived: null, assigned: 0, submissions: [{ isRejected: true }] },
      { id: 'supplying', dateReceived: null, assigned: 2, submissions: [] },
      { id: 'chosen only', dateReceived: null, assigned: 0, submissions: [] },
    ],
  }

  test.each<[EventType, string[]]>([
    ['requisition_received', ['asked', 'rejected']],
    ['requisition_cancelled', ['asked', 'rejected']],
    ['requisition_filled', ['asked', 'rejected', 'supplying']],
    ['requisition_worker_rejected', ['rejected']],
    ['requisition_assigned', ['supplying']],
  ])('%s', (type, agencyIds) => {
    expect(audienceOf(type, requisition)).toEqual({ companyId: 'c1', agencyIds })
  })

  it('sends nothing about a requisition that awaits approval in the company', () => {
    const waiting = { ...requisition, approvalStages: [{ approved: true }, { approved: false }] }
    expect(audienceOf('requisition_received', waiting).withheldFrom).toBe('everybody')
    expect(audienceOf('requisition_received', { ...requisition, status: 'draft' }).withheldFrom).toBe(
      'everybody',
    )
    expect(audienceOf('requisition_approved', waiting).withheldFrom).toBeUndefined()
  })
})

it('withholds credit notes from a provider to its client from agencies', () => {
  const creditNote = { company: { id: 'c1' }, agency: { id: 'a1' }, creditNoteType: 'mspToClient' }
  expect(audienceOf('credit_note_processed', creditNote).withheldFrom).toBe('agencies')
})
