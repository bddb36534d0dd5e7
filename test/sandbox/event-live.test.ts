/** The events of a world that changes by itself: each true at the moment it is raised. */
import { expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type EventType, eventRule, eventTypes } from '../../src/resources/events.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import type { Concern } from '../../src/sandbox/events/concern.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import { type Collection, World } from '../../src/sandbox/world.ts'
import { SECRET, webhook } from './event-world.ts'
import { type Body, openSandbox } from './open-sandbox.ts'
import { openReceiver, refusal } from './receiver.ts'
import { brokenSums } from './sums.ts'

const options = { seed: 1, scale: 0.2, today: '2026-11-02' }
const start = Date.parse('2026-11-02T08:00:00.000Z')

const homes: Readonly<Record<string, Collection>> = {
  timesheet: 'timesheets',
  expense: 'expenses',
  invoice: 'invoices',
}

/** What must be true of the record once the event is out; by default only that it is there. */
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
}

it('raises every type of what the sandbox holds, when it is true, for company and agency of the record', () => {
  const world = new World(generateRecords(options))
  const counts = new Map<EventType, number>()
  const raise = (type: EventType, id: string, concern?: Concern) => {
    counts.set(type, (counts.get(type) ?? 0) + 1)
    const home = homes[eventRule(type).entity]
    const record = home && (world.get(home, id) as Body)
    if (home) expect({ type, isTrue: (truths[type] ?? Boolean)(record) }).toEqual({ type, isTrue: true })
    expect(world.get('companies', concern?.companyId ?? '')).toBeDefined()
    expect(concern?.agencyIds?.map(agency => world.get('agencies', agency) !== undefined)).toEqual([true])
    if (record) expect(concern?.agencyIds).toEqual([record.agency.id])
  }
  const rng = seededRng(7)
  for (let step = 0; step < 80; step += 1) {
    mutateWorld(world, { rng, nowMs: start + step * 1000, count: 10, deletions: true, raise })
  }
  const possible = eventTypes.filter(type => homes[eventRule(type).entity])
  const others = [
    'credit_note_created',
    'credit_note_processed',
    'assignment_created',
    'assignment_confirmed',
  ]
  expect([...counts.keys()].sort()).toEqual([...possible, ...others].sort())
  const work = { timesheets: 'timesheets', expenses: 'expenses', invoices: 'invoices' } as const
  const rows = Object.fromEntries(
    Object.entries(work).map(([name, from]) => [name, world.all(from) as Body[]]),
  )
  expect(brokenSums(rows as Record<keyof typeof work, Body[]>)).toEqual([])
})

it('changes the same whether anybody is told or not', () => {
  const run = (raise?: () => void) => {
    const world = new World(generateRecords({ ...options, scale: 0.05 }))
    mutateWorld(world, { rng: seededRng(3), nowMs: start, count: 60, ...(raise ? { raise } : {}) })
    return JSON.stringify([world.all('timesheets'), world.all('expenses'), world.all('invoices')])
  }
  expect(run(() => undefined)).toBe(run())
})

it('sends them while it is live, with news of records that only their ids stand for', async () => {
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
  expect([...kinds].sort()).toEqual(expect.arrayContaining(['assignment', 'expense', 'timesheet', 'trade']))
  const timesheets = [...(records.timesheets ?? []), ...sandbox.world.all('timesheets')] as Body[]
  const assignments = new Set(timesheets.map(row => row.assignment.id))
  const deleted = (text: string) => text.endsWith('_deleted')
  for (const request of receiver.received) {
    const { type, data } = request.body
    expect(await refusal(request, { secret: SECRET, nowMs: at })).toBeUndefined()
    const home = homes[eventRule(type).entity]
    if (home && deleted(type))
      expect(sandbox.world.get(home, data[eventRule(type).entity].id)).toBeUndefined()
    if (type === 'assignment_ended') expect(assignments).toContain(data.assignment.id)
  }
})
