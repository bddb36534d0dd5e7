/** The mechanics that every transition shares: find a record, write it, change others, send events. */
import { expect, it } from 'vitest'
import type { EventType } from '../../../src/contract/events.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { ChangeContext, create, inStatus, remove, update } from '../../../src/sandbox/live/change.ts'
import { World } from '../../../src/sandbox/world.ts'

const now = '2026-11-02T08:00:00.000Z'
const pending = inStatus('expenses', 'pending')

function openContext(...statuses: readonly string[]) {
  const expenses = statuses.map((status, index) => ({ id: `e${index}`, status, value: 1, createdAt: now }))
  const world = new World({ expenses })
  const sent: [EventType, string][] = []
  const raise = (type: EventType, id: string) => void sent.push([type, id])
  const context = new ChangeContext(world, { rng: seededRng(1), nowMs: Date.parse(now), raise })
  return { world, context, sent }
}

it('updates a record: new status, new updatedAt, one event', () => {
  const { world, context, sent } = openContext('pending')
  const approve = update('expenses', 1, { from: pending, to: 'approved', sends: 'expense_approved' })
  expect(approve.apply(context)).toBe(true)
  expect(world.all('expenses')).toEqual([
    { id: 'e0', status: 'approved', value: 1, createdAt: now, updatedAt: now },
  ])
  expect(context.changes).toEqual([{ kind: 'updated', collection: 'expenses', id: 'e0' }])
  expect(sent).toEqual([['expense_approved', 'e0']])
})

it('sends the events of the status that the change led to, after changes to other records', () => {
  const { world, context, sent } = openContext('pending')
  const decide = update('expenses', 1, {
    from: pending,
    make: expense => ({ ...expense, status: 'rejected' }),
    also: (at, found, after) => {
      expect([at.now, found.status, after.status, sent]).toEqual([now, 'pending', 'rejected', []])
      world.upsert('timesheets', { id: 't0' })
    },
    sends: { approved: 'expense_approved', rejected: ['expense_amended', 'expense_rejected'] },
  })
  expect(decide.apply(context)).toBe(true)
  expect(sent.map(([type]) => type)).toEqual(['expense_amended', 'expense_rejected'])
  expect(world.get('timesheets', 't0')).toBeDefined()
})

it('changes nothing where no record meets the condition, or the record does not allow it', () => {
  const { world, context, sent } = openContext('approved')
  const none = update('expenses', 1, { from: pending, to: 'approved', sends: 'expense_approved' })
  const refused = update('expenses', 1, {
    from: inStatus('expenses', 'approved'),
    make: () => undefined,
  })
  expect([none.apply(context), refused.apply(context)]).toEqual([false, false])
  expect([context.changes, sent]).toEqual([[], []])
  expect(world.all('expenses')).toEqual([{ id: 'e0', status: 'approved', value: 1, createdAt: now }])
})

it('creates several records, each with its event, and removes one', () => {
  const { world, context, sent } = openContext('pending')
  const split = create('expenses', 1, {
    from: pending,
    make: expense => ['a', 'b'].map(id => ({ ...expense, id })),
    sends: 'expense_created',
  })
  expect(split.apply(context)).toBe(true)
  expect(world.all('expenses').map(({ id }) => id)).toEqual(['e0', 'a', 'b'])
  const withdraw = remove('expenses', 1, { from: pending, sends: 'expense_deleted' })
  expect(withdraw.apply(context)).toBe(true)
  expect(world.all('expenses')).toHaveLength(2)
  expect(sent.map(([type]) => type)).toEqual(['expense_created', 'expense_created', 'expense_deleted'])
  expect(context.changes.map(({ kind }) => kind)).toEqual(['created', 'created', 'removed'])
})
