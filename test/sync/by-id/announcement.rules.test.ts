/** What a run says of the records that it will fetch by id, from the ids that it knows. */
import { expect, test } from 'vitest'
import type { DueId } from '../../../src/state/by-id/due.ts'
import { Announcement } from '../../../src/sync/by-id/announcement.ts'
import type { ResourceEvent, SyncContext } from '../../../src/sync/run/context.ts'
import type { LockedTask } from '../../../src/sync/run/task.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, knownIds, rulesTasks } from '../rules-task.ts'

const warehouse = rulesWarehouse()
rulesTasks(warehouse)
const terms = { keyScope: null, at: hour(0), fetchedBefore: hour(0), isFromEvents: false }

function announcing() {
  const events: ResourceEvent[] = []
  const emit = (event: ResourceEvent): number => events.push(event)
  const sync = { engine: warehouse.engine, key: { kind: 'company' }, emit } as unknown as SyncContext
  return { events, announcement: new Announcement(sync) }
}
const taskOf = (name: string, asked: readonly string[] = [], requests = 0) => ({
  locked: { task: { resource: resourceOf(name), counters: { requests } } } as LockedTask,
  asked: new Set(asked),
})
const known = (ids: readonly string[], source = 'star.fact_assignment.trade_id') =>
  knownIds(warehouse, { resource: 'trades', ids }, { source })
const stored = (...ids: readonly string[]): DueId[] =>
  ids.map(id => ({ record_id: id, state: 'stored', failures: 0 }))

test('the known ids of a resource are those of all their sources', async () => {
  await known(['a', 'b'])
  await known(['c', 'd', 'e'], 'star.dim_rate.trade_id')
  const { announcement } = announcing()
  const counts = await announcement.count([taskOf('trades', ['a']), taskOf('rates')], terms)
  const [trades, rates] = [...counts.values()]
  expect(trades).toMatchObject({ resource: 'trades', due: 5, asked: 1, known: 5, knownBefore: 5 })
  expect(rates).toMatchObject({ resource: 'rates', due: 0, asked: 0, known: 0, knownBefore: 0 })
})

test('the ids known before are those of the first count', async () => {
  await known(['a', 'b'])
  const { announcement } = announcing()
  await announcement.count([taskOf('trades')], terms)
  await known(['c'])
  const [trades] = [...(await announcement.count([taskOf('trades')], terms)).values()]
  expect(trades).toMatchObject({ known: 3, knownBefore: 2 })
})

test.each([
  ['without a choice', undefined, 3],
  ['of which one was requested before', stored('a', 'x', 'y'), 5],
  ['none of which was requested before', stored('x', 'y', 'z'), 6],
])('asked and due records are announced, and the chosen ones, %s', async (...[, chosen, expected]) => {
  await known(['b', 'c'])
  const { announcement, events } = announcing()
  const counts = await announcement.count([taskOf('trades', ['a'], 7)], terms)
  announcement.emitCounts(counts, chosen && new Map([['trades', chosen]]))
  expect(events).toEqual([
    { resource: 'trades', state: 'waiting', requests: 7, pagesTotal: expected, pagesMost: expected },
  ])
})
