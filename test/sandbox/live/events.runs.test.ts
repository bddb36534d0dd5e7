/** The events of a live world: each is true at the moment it is sent. */
import { expect, it } from 'vitest'
import { type EventType, eventRule, eventTypes, payloadKeys } from '../../../src/contract/events.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { generateRecords } from '../../../src/sandbox/data/generate.ts'
import { type Audience, homes } from '../../../src/sandbox/events/audience.ts'
import { mutateWorld } from '../../../src/sandbox/live/mutate-world.ts'
import { World } from '../../../src/sandbox/world.ts'
import { brokenSums } from '../data/sums.ts'
import { SECRET, webhook } from '../events/open-events.ts'
import { openReceiver, refusal } from '../events/receiver.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const options = { seed: 1, scale: 0.2, today: '2026-11-02' }
const start = Date.parse('2026-11-02T08:00:00.000Z')

const approvals = (row: Body): number => row.approvalStages.filter((one: Body) => one.approved).length
const isApproved = (row: Body): boolean => approvals(row) === row.approvalStages.length

/** What must be true of the record when the event is sent; by default only that it exists. */
const truths: Readonly<Record<string, (record: Body) => boolean>> = {
  timesheet_approval_requested: row => row.status === 'pending_approval',
  timesheet_approved: row => row.status === 'approved' && row.approvedDate !== undefined,
  timesheet_cancelled: row => row.status === 'cancelled',
  timesheet_unapproved: row => row.status === 'pending_approval' && !('approvedDate' in row),
  timesheet_deleted: row => row === undefined,
  timesheet_marked_absent: row => row.status === 'absent' && row.netHours === 0,
  expense_created: row => row.status === 'pending' && row.createdAt === row.updatedAt,
  expense_rejected: row => row.status === 'rejected',
  expense_approved: row => row.status === 'approved',
  expense_amended: row => row.status === 'pending' && row.createdAt <= row.updatedAt,
  expense_deleted: row => row === undefined,
  invoice_created: row => row.status === 'pending',
  invoice_paid: row => row.status === 'confirmed' && row.confirmedDate !== null,
  requisition_created: row => row.status === 'raised' && row.agencies.length === 0,
  requisition_approved: row => approvals(row) > 0 && (row.status === 'approved') === isApproved(row),
  requisition_received: row => row.agencies.some((agency: Body) => agency.dateReceived !== null),
  requisition_cancelled: row => row.status === 'cancelled' && row.cancellation !== undefined,
  requisition_filled: row => row.status === 'filled',
  requisition_worker_submitted: row => row.agencies.some((agency: Body) => agency.submissions.length > 0),
  requisition_assigned: row => row.agencies.some((agency: Body) => agency.assigned > 0),
  assignment_created: row => ['pending', 'confirmed'].includes(row.status),
  assignment_confirmed: row => row.status === 'confirmed' && row.confirmationDate !== undefined,
  assignment_cancelled: row => row.status === 'cancelled' && row.cancellation !== undefined,
  assignment_ended: row => row.status === 'ended' && row.ended !== undefined,
  assignment_reinstated: row =>
    row.status === 'confirmed' && !('ended' in row) && row.reinstatement !== undefined,
  credit_note_created: row => row.status === 'pending' && row.timesheet !== undefined,
  credit_note_processed: row => row.status === 'processed' && row.confirmedDate !== null,
  trade_amended: row => row.active === true,
  trade_disabled: row => row.active === false,
  purchase_order_expired: row => row.status === 'inactive',
  purchase_order_deleted: row => row === undefined,
}

/** Agencies that may receive an event about a record: its own, or those that received the requisition. */
const partners = (record: Body): string[] =>
  record.agencies ? record.agencies.map((agency: Body) => agency.id) : record.agency ? [record.agency.id] : []

/** Events as they are raised, each compared with the record that it names; how many there were of each type. */
function comparedEvents(world: World) {
  const counts = new Map<EventType, number>()
  const stages = new Map<string, number>()
  const raise = (type: EventType, id: string, audience?: Audience): void => {
    counts.set(type, (counts.get(type) ?? 0) + 1)
    if (type === 'requisition_approved') stages.set(id, (stages.get(id) ?? 0) + 1)
    const { entity, agency } = eventRule(type)
    const record = world.get(homes[entity], id) as Body
    expect({ type, isTrue: (truths[type] ?? Boolean)(record) }).toEqual({ type, isTrue: true })
    expect(world.get('companies', audience?.companyId ?? '')).toBeDefined()
    const receivers = audience?.agencyIds ?? []
    expect(receivers.every(one => world.get('agencies', one) !== undefined)).toBe(true)
    if (!agency || record === undefined) return
    if (['requisition_worker_rejected', 'requisition_assigned'].includes(type))
      expect(receivers).toHaveLength(1)
    if (entity === 'requisition') expect(partners(record)).toEqual(expect.arrayContaining([...receivers]))
    else expect(receivers).toEqual(partners(record))
  }
  return { counts, stages, raise }
}

it('sends every type of event, when it is true, to company and agency of the record', () => {
  const world = new World(generateRecords(options))
  const managed = world.all('companies')[0] as Body
  const mspConfig = { enabled: true, msps: ['Openfield Managed Services'], billing: true }
  world.upsert('companies', { ...managed, config: { ...managed.config, mspConfig } })
  const { counts, stages, raise } = comparedEvents(world)
  const rng = seededRng(7)
  for (let step = 0; step < 120; step += 1) {
    mutateWorld(world, { rng, nowMs: start + step * 1000, count: 10, deletions: true, raise })
  }
  expect(eventTypes.filter(type => !counts.has(type))).toEqual([])
  // One for each stage: what was raised meanwhile has no other approvals.
  const raised = (world.all('requisitions') as Body[]).filter(
    ({ createdAt }) => Date.parse(createdAt) >= start,
  )
  expect(raised.filter(row => approvals(row) !== (stages.get(row.id) ?? 0))).toEqual([])
  expect(Math.max(...stages.values())).toBeGreaterThan(1)
  const billed = (world.all('invoices') as Body[]).filter(({ createdAt }) => Date.parse(createdAt) >= start)
  const lines = (type: string) =>
    billed.flatMap(({ invoiceType, company, timesheets }) =>
      invoiceType === type && company.id === managed.id ? timesheets : [],
    )
  expect(lines('mspToClient').length).toBeGreaterThan(0)
  expect(lines('mspToClient')).toEqual(lines('supplierToMsp'))
  expect(lines('supplierToClient')).toEqual([])
  const work = { timesheets: 'timesheets', expenses: 'expenses', invoices: 'invoices' } as const
  const rows = Object.fromEntries(
    Object.entries(work).map(([name, from]) => [name, world.all(from) as Body[]]),
  )
  expect(brokenSums(rows as Record<keyof typeof work, Body[]>)).toEqual([])
})

it('makes the same changes with and without a receiver of events', () => {
  const run = (raise?: () => void) => {
    const world = new World(generateRecords({ ...options, scale: 0.05 }))
    mutateWorld(world, { rng: seededRng(3), nowMs: start, count: 60, ...(raise ? { raise } : {}) })
    return JSON.stringify([world.all('timesheets'), world.all('expenses'), world.all('invoices')])
  }
  expect(run(() => undefined)).toBe(run())
})

it('sends events about every kind of record while it is live', async () => {
  let at = start
  const clock: Clock = {
    now: () => at,
    sleep: async (_ms, signal) => {
      await systemClock.sleep(1, signal)
      at += 100
    },
  }
  const receiver = await openReceiver()
  const records = generateRecords({ ...options, scale: 0.02 })
  const companies = (records.companies ?? []) as Body[]
  const sandbox = await openSandbox({
    records,
    clock,
    live: { changesPerSecond: 50, seed: 2, deletions: true },
    events: { webhooks: companies.map(({ id }) => webhook(receiver.url, { owner: id })) },
  })
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBeGreaterThan(200)
  await sandbox.close()
  const kinds = new Set(receiver.received.map(({ body }) => Object.keys(body.data).join()))
  expect([...kinds].sort()).toEqual(
    expect.arrayContaining(['assignment', 'expense', 'requisition', 'timesheet']),
  )
  for (const request of receiver.received) {
    const { type, data } = request.body
    expect(await refusal(request, { secret: SECRET, nowMs: at })).toBeUndefined()
    const { entity, deletes } = eventRule(type)
    const id = data[payloadKeys[entity]].id
    // What was written may be deleted before its news is looked at.
    if (deletes) expect(sandbox.world.get(homes[entity], id)).toBeUndefined()
    else if (!eventTypes.some(one => eventRule(one).entity === entity && eventRule(one).deletes))
      expect(sandbox.world.get(homes[entity], id)).toBeDefined()
  }
})
