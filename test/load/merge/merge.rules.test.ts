/** What becomes of a stored record when another version of it arrives, is missing, or is tombstoned. */
import { expect, test } from 'vitest'
import { revive, tombstone } from '../../../src/load/merge/tombstone.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { resourceOf, rulesWarehouse } from '../../rules-warehouse.ts'

const warehouse = rulesWarehouse()
const timesheets = resourceOf('timesheets')
const plan = stagePlan(timesheets)

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T09:00:00.000Z`
/** An id that names its case. */
const idOf = (name: string): string => name.replaceAll(/\W/g, '_')
const sheet = (id: string, parts: object = {}) => ({
  ...{ id, status: 'pending', version: 1, netHours: 40, createdAt: day(1), updatedAt: day(1) },
  ...parts,
})

const stored = (id: string) =>
  warehouse.rows(
    `select status, net_hours as hours, is_deleted from star.fact_timesheet where timesheet_id = '${id}' order by 1`,
  )
const history = (id: string) =>
  warehouse.rows(
    `select status, cast(valid_from as varchar) as valid_from, cast(valid_to as varchar) as valid_to
     from history.fact_timesheet where timesheet_id = '${id}' order by valid_from`,
  )
const statusesOf = async (id: string) => (await stored(id)).map(({ status }) => status)

async function versions(
  id: string,
  first: object,
  second: { readonly fetched?: string; readonly [field: string]: unknown },
) {
  const { fetched = '2026-05-02T00:00:00.000Z', ...parts } = second
  await warehouse.load(timesheets, [sheet(id, first)])
  await warehouse.load(timesheets, [sheet(id, parts)], { at: fetched })
  return statusesOf(id)
}

test.each([
  ['a later updatedAt', { updatedAt: day(2) }, { updatedAt: day(3) }, 'approved'],
  ['an earlier updatedAt', { updatedAt: day(2) }, { updatedAt: day(1) }, 'pending'],
  [
    'an earlier updatedAt with a greater version',
    { updatedAt: day(2) },
    { updatedAt: day(1), version: 9 },
    'pending',
  ],
  ['a greater version', { version: 2 }, { version: 3 }, 'approved'],
  ['a smaller version', { version: 2 }, { version: 1 }, 'pending'],
  ['a later updatedAt with a smaller version', { version: 2 }, { updatedAt: day(2), version: 1 }, 'approved'],
  ['neither, fetched later', {}, {}, 'approved'],
])('%s decides which version stays', async (...[name, first, second, status]) => {
  expect(await versions(idOf(`newer ${name}`), first, { ...second, status: 'approved' })).toEqual([status])
})

test('of equal times and versions the one that was fetched later stays, in whichever order they load', async () => {
  const earlier = '2026-04-30T00:00:00.000Z'
  expect(await versions('fetched', {}, { status: 'approved', fetched: earlier })).toEqual(['pending'])
})

test('a stored time more than a day ahead of its fetch gives way to an earlier one', async () => {
  const far = { updatedAt: '2026-05-03T00:00:00.001Z' }
  const near = { updatedAt: '2026-05-03T00:00:00.000Z' }
  const at = '2026-05-02T00:00:00.000Z'
  const replaced = async (id: string, first: object) => {
    await warehouse.load(timesheets, [sheet(id, first)], { at })
    await warehouse.load(timesheets, [sheet(id, { status: 'approved' })], { at: '2026-05-04T00:00:00.000Z' })
    return statusesOf(id)
  }
  expect(await replaced('far', far)).toEqual(['pending'])
  expect(await replaced('farther', { updatedAt: '2026-05-05T00:00:00.001Z' })).toEqual(['approved'])
  expect(await replaced('near', near)).toEqual(['pending'])
})

test('a version that was replaced becomes history, valid between the two times', async () => {
  await versions('history', { updatedAt: day(2) }, { updatedAt: day(5), status: 'approved' })
  expect(await history('history')).toMatchObject([
    {
      status: 'pending',
      valid_from: expect.stringContaining('2026-03-02'),
      valid_to: expect.stringContaining('2026-03-05'),
    },
  ])
})

test('a record of which only the time of change moved keeps its version and adds no history', async () => {
  await warehouse.load(timesheets, [sheet('touched', { updatedAt: day(2) })])
  const loaded = await warehouse.load(timesheets, [sheet('touched', { updatedAt: day(5) })])
  expect(loaded).toMatchObject({ changed: 0, touched: 1, unchanged: 0 })
  expect(await history('touched')).toEqual([])
  await warehouse.load(timesheets, [sheet('touched', { updatedAt: day(6), status: 'approved' })])
  expect(await history('touched')).toMatchObject([
    { valid_from: expect.stringContaining('2026-03-02'), valid_to: expect.stringContaining('2026-03-06') },
  ])
})

test('a stale record leaves the stored row alone', async () => {
  await versions('stale', { updatedAt: day(5) }, { updatedAt: day(4), status: 'approved' })
  expect(await stored('stale')).toHaveLength(1)
  expect(await history('stale')).toEqual([])
})

test('a batch of new and stale records writes the stale ones not at all', async () => {
  await warehouse.load(timesheets, [sheet('mixed', { updatedAt: day(5) })])
  await warehouse.load(timesheets, [
    sheet('mixed', { updatedAt: day(4), status: 'approved' }),
    sheet('mixed_new'),
  ])
  expect([await statusesOf('mixed'), await statusesOf('mixed_new')]).toEqual([['pending'], ['pending']])
})

test('a batch of new and equal records writes the equal ones not at all', async () => {
  await warehouse.load(timesheets, [sheet('equal')])
  const loaded = await warehouse.load(timesheets, [sheet('equal'), sheet('equal_new')])
  expect(loaded).toMatchObject({ inserted: 1, changed: 0, unchanged: 1 })
  expect(await stored('equal')).toHaveLength(1)
})

test.each([
  ['before', '2026-05-09T23:59:59.999Z', true],
  ['at', '2026-05-10T00:00:00.000Z', true],
  ['after', '2026-05-10T00:00:00.001Z', false],
])(
  'a record fetched %s the time at which it was found missing: still deleted %s',
  async (name, at, isDeleted) => {
    const id = idOf(`gone ${name}`)
    await warehouse.load(timesheets, [sheet(id)])
    await tombstone(warehouse.engine, plan, [{ id, at: '2026-05-10T00:00:00.000Z' }])
    await warehouse.load(timesheets, [sheet(id, { updatedAt: day(9) })], { at })
    expect(await stored(id)).toMatchObject([{ is_deleted: isDeleted }])
  },
)

test('a tombstone keeps one version in history, however often it is set', async () => {
  await warehouse.load(timesheets, [sheet('twice')])
  const gone = [{ id: 'twice', at: '2026-05-10T00:00:00.000Z' }]
  await tombstone(warehouse.engine, plan, gone)
  await tombstone(warehouse.engine, plan, [{ id: 'twice', at: '2026-05-11T00:00:00.000Z' }])
  expect(await history('twice')).toHaveLength(1)
  expect(
    await warehouse.rows(
      `select cast(deleted_at as varchar) as at from star.fact_timesheet where timesheet_id = 'twice'`,
    ),
  ).toEqual([{ at: expect.stringContaining('2026-05-10') }])
})

test('a record that is seen again is live, and its absence is a version of history', async () => {
  await warehouse.load(timesheets, [sheet('back')])
  await tombstone(warehouse.engine, plan, [{ id: 'back', at: '2026-05-10T00:00:00.000Z' }])
  await revive(warehouse.engine, plan, [{ id: 'back', at: '2026-05-12T00:00:00.000Z' }])
  await revive(warehouse.engine, plan, [{ id: 'back', at: '2026-05-13T00:00:00.000Z' }])
  expect(await stored('back')).toMatchObject([{ is_deleted: false }])
  expect(await history('back')).toHaveLength(2)
})
