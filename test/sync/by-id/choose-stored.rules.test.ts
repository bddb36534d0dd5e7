/** Which stored records of several resources a budget chooses, and what is expected of each. */
import { expect, test } from 'vitest'
import { chooseStored } from '../../../src/sync/by-id/choose-stored.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, type KnownId, knownIds, rulesTasks, starRows, startOfTests } from '../rules-task.ts'

const warehouse = rulesWarehouse()
rulesTasks(warehouse, 'dim_trade', 'fact_requisition', 'fact_assignment')
const [trades, requisitions] = [resourceOf('trades'), resourceOf('requisitions')]
const nowMs = Date.parse(startOfTests)
const fetched = (days: number, parts: KnownId = {}): KnownId => ({
  ...{ state: 'stored', fetchedAt: hour(-24 * days), fetches: 1 },
  ...parts,
})
const choose = (requests: number, parts: object = {}) =>
  chooseStored(warehouse.engine, [trades, requisitions], {
    nowMs,
    budget: { requests, paced: requests, ...parts },
  })

async function stored(resource: typeof trades, ids: readonly string[], parts: KnownId): Promise<void> {
  const columns = resource === requisitions ? { status: `'open'` } : {}
  await starRows(warehouse, { resource, ids }, { columns })
  await knownIds(warehouse, { resource: resource.name, ids }, parts)
}

test('the best of all resources are chosen, and how many of each were worth a request is counted', async () => {
  await stored(trades, ['t1', 't2'], fetched(5))
  await stored(requisitions, ['r1'], fetched(20))
  await stored(trades, ['t3'], fetched(0.0001))
  const { chosen, worth } = await choose(2)
  const ids = (name: string) => chosen.get(name)?.map(({ record_id: id }) => id)
  expect([ids('trades'), ids('requisitions')]).toEqual([['t1'], ['r1']])
  expect([...worth]).toEqual([
    ['trades', 2],
    ['requisitions', 1],
  ])
})

test('a resource without a choice has an empty one', async () => {
  const { chosen, worth } = await choose(2)
  expect([chosen.get('trades'), worth.get('trades')]).toEqual([[], 0])
})

test('a record is chosen with its kind, its rate and the chance that it is unchanged', async () => {
  await stored(requisitions, ['r1'], fetched(20, { changes: 2, exposure: 40 }))
  const { chosen } = await choose(1)
  const [due] = chosen.get('requisitions') ?? []
  // The mean rate of its kind, 2.5 changes in 81 days, weighs like 20 changes.
  const days = 20 / (2.5 / 81)
  const rate = 22 / (40 + days)
  expect(due).toMatchObject({
    record_id: 'r1',
    state: 'stored',
    failures: 0,
    expected: { kind: 'open', signals: [] },
  })
  expect(due?.expected?.rate).toBeCloseTo(rate, 6)
  expect(due?.expected?.fresh).toBeCloseTo(Math.exp(-20 * rate), 6)
  expect(due).not.toHaveProperty('isForEvents')
})

test('a record of a kind without fetches has the rate of an unknown kind', async () => {
  await stored(requisitions, ['r1'], fetched(20, { signals: 1, fetches: 0 }))
  const { chosen } = await choose(1)
  expect(chosen.get('requisitions')?.[0]?.expected?.rate).toBeCloseTo(1 / 30, 9)
})

test('the silence of events lowers the rate, and an event raises it again', async () => {
  await stored(requisitions, ['r1', 'r2'], fetched(20))
  await warehouse.engine.run(`update ops.discovered set signals = 1 where record_id = 'r2'`)
  await warehouse.engine.run(
    `insert into ops.change_signal (resource, signal, kind, signalled, unchanged, unchanged_expected, quiet_changes, quiet_expected, updated_at)
     values ('requisitions', 'event', '', 0, 0, 0, 0, 180, timestamptz '${hour(0)}')`,
  )
  const { chosen } = await choose(2)
  const of = new Map((chosen.get('requisitions') ?? []).map(one => [one.record_id, one]))
  const [quiet, told] = [of.get('r1')?.expected, of.get('r2')?.expected]
  expect(quiet?.rate).toBe(told?.rate)
  expect(Math.log(quiet?.fresh ?? 1)).toBeCloseTo(Math.log(told?.fresh ?? 1) * 0.1, 9)
})

test('a record fetched in the future, by a wrong clock, is surely unchanged', async () => {
  await stored(requisitions, ['r1'], { ...fetched(1), signals: 1 })
  await warehouse.engine.run(`update ops.discovered set last_fetched_at = timestamptz '${hour(-0.1)}'`)
  const { chosen } = await choose(1)
  expect(chosen.get('requisitions')?.[0]?.expected?.fresh).toBeLessThan(1)
})

test('a related record that changed since raises the worth', async () => {
  await stored(requisitions, ['r1', 'r2'], fetched(5))
  const columns = { requisition_id: `'r2'`, source_updated_at: `timestamptz '${hour(-1)}'` }
  await warehouse.engine.run(
    `insert into star.fact_assignment (assignment_id, requisition_id, source_updated_at, loaded_at, is_deleted, run_id, row_hash)
     values ('a1', ${columns.requisition_id}, ${columns.source_updated_at}, timestamptz '${hour(-1)}', false, 'before', '')`,
  )
  const { chosen } = await choose(1)
  const [due] = chosen.get('requisitions') ?? []
  expect(due?.record_id).toBe('r2')
  expect(due?.expected?.signals).toEqual(['star.fact_assignment.requisition_id'])
})

test('records with an event are paid for by their share, as far as it goes', async () => {
  await stored(trades, ['t1', 't2'], fetched(5, { signals: 1 }))
  const { chosen } = await choose(2, { events: 1 })
  expect(chosen.get('trades')?.map(({ record_id: id, isForEvents }) => [id, isForEvents])).toEqual([
    ['t1', true],
    ['t2', undefined],
  ])
})

test('a record fetched within the last minute is left out', async () => {
  await stored(trades, ['t1'], { ...fetched(0), fetchedAt: hour(-1 / 60), signals: 1 })
  await stored(trades, ['t2'], { ...fetched(0), fetchedAt: hour(-1.001 / 60), signals: 1 })
  expect((await choose(9)).chosen.get('trades')?.map(({ record_id: id }) => id)).toEqual(['t2'])
})
