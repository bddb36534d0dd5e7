/** Calibrations that are given little: few requests, one company of two, an offset that is no zone, nothing at all. */
import { expect, test } from 'vitest'
import { calibrateOn } from '../../../src/crosscheck/calibrate/calibrate.ts'
import { definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'
import { serviceOf, type World } from '../in-memory.ts'
import { recordsOf, smallWorld } from './small-world.ts'

const all = smallWorld()
const world: World = { requisitions: all.requisitions.slice(0, 8), timesheets: all.timesheets.slice(0, 8) }
const none: World = { requisitions: [], timesheets: [] }

test.each([
  [0, 0],
  [3, 3],
  [14, 14],
])('with %i requests a calibration stops after %i, and says so', async (limit, requests) => {
  const found = await calibrateOn(recordsOf(world, ['UTC', 'Asia/Tokyo']), serviceOf(world, { limit }))
  expect([found.requests, found.stopped]).toEqual([requests, 'the requests are used'])
  if (limit === 0) expect(found.definition).toEqual(definitionDefaults)
})

test('an error of the service ends a calibration', async () => {
  const service = { ...serviceOf(world), ask: () => Promise.reject(new Error('refused')) }
  await expect(calibrateOn(recordsOf(world, ['UTC']), service)).rejects.toEqual(new Error('refused'))
  const late = serviceOf(world)
  const ask = late.ask.bind(late)
  late.ask = (query, pages) =>
    late.asked.length < 14 ? ask(query, pages) : Promise.reject(new Error('later'))
  await expect(calibrateOn(recordsOf(world, ['UTC']), late)).rejects.toEqual(new Error('later'))
})

test('without a record on either side everything stays possible', async () => {
  const found = await calibrateOn(recordsOf(none, ['UTC', 'Asia/Tokyo']), serviceOf(none))
  expect(found.definition).toMatchObject({ ...definitionDefaults })
  expect(found.rules.get('companies')).toBeUndefined()
  expect(found.stopped).toBeUndefined()
})

test('an offset that no zone has is found by the minute', async () => {
  const at = (day: string, time: string) => ({
    ...{ status: 'filled', company: { id: 'c1', name: 'One' }, updatedAt: '2026-01-01T00:00:00.000Z' },
    ...{ approvedDate: `${day}T12:00:00.000Z`, project: { id: day, name: day } },
    agencies: [{ id: 'a1', name: 'A', dateAccepted: `${day}T${time}:00.000Z` }],
  })
  // With 05:17 more, 18:43 is midnight.
  const days = ['2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30']
  const times = ['18:42', '18:43', '18:44', '20:00', '20:01', '20:02']
  const requisitions = days.flatMap((day, index) =>
    times.map(time => ({ ...at(day, time), id: `${index}${time}`, reference: 'R' })),
  )
  const some = { requisitions, timesheets: [] }
  const found = await calibrateOn(
    recordsOf(some, ['UTC', '+05:00', '+05:15', '+05:30']),
    serviceOf(some, { options: { 'day-zone': '+05:17' } }),
  )
  expect(found.definition.zone).toBe('+05:17')
})

test.each(['ref', 'id', 'name'] as const)(
  'companies that the service does not count are read off its groups by %s',
  async ref => {
    const own = {
      requisitions: world.requisitions.filter(
        one => (one as { company: { id: string } }).company.id === 'c1',
      ),
      timesheets: [],
    }
    const records = { ...recordsOf(own, ['UTC']), names: recordsOf(world, ['UTC']).names }
    const found = await calibrateOn(
      records,
      serviceOf(own, { options: { 'group-ref': ref, 'hours-field': 'timelogHours' } }),
    )
    expect(found.rules.get('companies')).toMatchObject({ state: 'stated', alive: [['c1']] })
    expect(found.rules.get('refKey')).toMatchObject({ alive: [ref] })
  },
)

test('companies are not read off a list of which pages were left out', async () => {
  const found = await calibrateOn(recordsOf(world, ['UTC']), serviceOf(world, { rowsPerPage: 1, limit: 30 }))
  expect(found.rules.get('companies')?.alive).toEqual([null])
  const three = {
    ...world,
    requisitions: world.requisitions.map((one, index) => ({
      ...one,
      company: { id: `c${index}`, name: 'C' },
    })),
  }
  const partly = await calibrateOn(recordsOf(three, ['UTC']), serviceOf(three, { rowsPerPage: 1, limit: 30 }))
  expect(partly.rules.get('companies')).toBeUndefined()
})

test.each(['netHours', 'timelogHours'] as const)('reports which hours are added up: %s', async field => {
  const sheets = { requisitions: [], timesheets: world.timesheets.slice(0, 9) }
  const found = await calibrateOn(
    recordsOf(sheets, ['UTC']),
    serviceOf(sheets, { options: { 'hours-field': field } }),
  )
  expect(found.rules.get('hoursField')).toMatchObject({ state: 'stated', alive: [field] })
  expect(found.definition.hoursField).toBe(field)
})
