/** Which resources a run locks to read their records by id, what it reads of them, and what it reports. */
import { expect, test } from 'vitest'
import { Busy } from '../../../src/lib/errors.ts'
import { takeLease } from '../../../src/state/runs/leases.ts'
import { readRecords } from '../../../src/sync/by-id/by-id.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { knownIds, notFound, rulesTasks, runOfScope } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_trade', 'dim_rate')
const [trades, rates] = [resourceOf('trades'), resourceOf('rates')]
const holders = () => warehouse.rows('select resource, holder from ops.lease order by resource')

/** No record is there, so nothing is loaded. */
async function prepared(usage: object | (() => object) = {}) {
  const task = await newTask(trades, () => notFound, { usage })
  await runOfScope(warehouse, 'before', task)
  await knownIds(warehouse, { resource: 'trades', ids: ['t-new'] })
  await knownIds(warehouse, { resource: 'trades', ids: ['t-told'] }, { signals: 1 })
  await knownIds(warehouse, { resource: 'rates', ids: ['r-new'] })
  return task
}
const asked = (task: Awaited<ReturnType<typeof prepared>>) =>
  task.requests.map(({ path, purpose }) => `${path} ${purpose}`).toSorted()

test('all that is due is read unless told otherwise, and every resource is free afterwards', async () => {
  const task = await prepared()
  const results = await readRecords(task.sync, [trades, rates], {})
  expect(results).toMatchObject([
    { resource: 'trades', state: 'done', requests: 2 },
    { resource: 'rates', state: 'done', requests: 1 },
  ])
  expect(asked(task)).toEqual(['/rates/r-new sync', '/trades/t-new sync', '/trades/t-told sync'])
  expect(await holders()).toEqual([])
})

test('a run for events reads what they announced, from their share', async () => {
  const task = await prepared()
  const request = { onlySignalled: true, purpose: 'webhook' } as const
  expect(await readRecords(task.sync, [trades, rates], request)).toHaveLength(2)
  expect(asked(task)).toEqual(['/trades/t-told webhook'])
})

test('a resource that another process holds is left to it, and the others are read', async () => {
  const task = await prepared()
  await warehouse.engine.announce('other')
  await takeLease(warehouse.engine, { resource: 'rates', holder: 'other', ms: 60_000 })
  const results = await readRecords(task.sync, [rates, trades], {})
  expect(results).toMatchObject([
    { resource: 'rates', state: 'failed', error: expect.any(Busy) },
    { resource: 'trades', state: 'done' },
  ])
  expect(asked(task)).toEqual(['/trades/t-new sync', '/trades/t-told sync'])
  expect(await holders()).toEqual([{ resource: 'rates', holder: 'other' }])
})

test('every resource is free when the reading fails before it has begun', async () => {
  const bug = new Error('a bug')
  const task = await prepared(() => {
    throw bug
  })
  await expect(readRecords(task.sync, [trades, rates], {})).rejects.toBe(bug)
  expect(await holders()).toEqual([])
})
