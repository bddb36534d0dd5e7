/** Interpretations of what the contract leaves open: which are tried, in which order, and which stay possible. */
import { expect, test } from 'vitest'
import {
  allZones,
  candidates,
  definitionDefaults,
  isPossible,
} from '../../../src/crosscheck/metrics/definition.ts'

test('the default of each rule is tried first', () => {
  for (const [rule, list] of Object.entries(candidates))
    expect([rule, list[0]]).toEqual([rule, definitionDefaults[rule as keyof typeof candidates]])
})

test('the defaults are those of docs/metrics.md', () => {
  expect(definitionDefaults).toEqual({
    ...{ quantiles: 'type7', valueQuantiles: 'type7', days: 'fractional', negativeDays: 'counted' },
    ...{ acceptance: 'perAgency', bounds: 'inclusive', minForRule: 1 },
    requisitionStatuses: ['raised', 'approved', 'filled', 'cancelled', 'rejected'],
    ...{ timesheetStatuses: ['approved'], companies: null, zone: 'UTC', from: 'inclusive', to: 'inclusive' },
    ...{ hoursField: 'netHours', weekStart: 'monday', threshold: 'over', workerWeek: 'worker' },
    ...{ daysDecimals: null, hoursDecimals: null, weekKey: 'isoWeek', monthKey: 'yearMonth', refKey: 'ref' },
  })
})

test('everything else that is possible is tried too', () => {
  const { requisitionStatuses, timesheetStatuses, zone, ...rest } = candidates
  expect(rest).toEqual({
    quantiles: ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank', 'floorIndex'],
    valueQuantiles: ['type7', 'type6', 'type5', 'type8', 'type2', 'nearestRank', 'floorIndex'],
    days: ['fractional', 'floor', 'ceil', 'round', 'calendarUtc', 'calendarLondon', 'calendarZone'],
    negativeDays: ['counted', 'zero', 'dropped'],
    acceptance: ['perAgency', 'earliest', 'latest'],
    bounds: ['inclusive', 'exclusive'],
    minForRule: [1, 2, 3, 4, 5, 6, 8, 10],
    from: ['inclusive', 'exclusive'],
    to: ['inclusive', 'midnight', 'exclusive'],
    hoursField: ['netHours', 'timelogHours'],
    weekStart: ['monday', 'sunday', 'saturday'],
    threshold: ['over', 'at'],
    workerWeek: ['worker', 'timesheet', 'calendarWeek'],
    daysDecimals: [null, 0, 1, 2, 3, 4],
    hoursDecimals: [null, 0, 1, 2, 3, 4],
    weekKey: ['isoWeek', 'firstDay'],
    monthKey: ['yearMonth', 'firstDay'],
    refKey: ['ref', 'id', 'name'],
  })
  expect(zone).toBe(allZones)
})

test('every selection of states is tried once, the default first and then the larger ones', () => {
  const sizes = (lists: readonly (readonly string[])[]) => lists.map(({ length }) => length)
  const { requisitionStatuses, timesheetStatuses } = candidates
  expect(sizes(requisitionStatuses)).toEqual([
    5,
    ...Array(5).fill(4),
    ...Array(10).fill(3),
    ...Array(10).fill(2),
    ...Array(5).fill(1),
  ])
  expect(timesheetStatuses[0]).toEqual(['approved'])
  expect(timesheetStatuses[1]).toEqual(['approved', 'pending_approval', 'pending', 'absent', 'cancelled'])
  expect(sizes(timesheetStatuses)).toEqual([
    ...[1, 5],
    ...Array(5).fill(4),
    ...Array(10).fill(3),
    ...Array(10).fill(2),
    ...Array(4).fill(1),
  ])
  expect(new Set(timesheetStatuses.map(list => list.join())).size).toBe(31)
})

test('zones are the plausible ones, every named one, then offsets by the quarter of an hour from -12:00 to +14:00', () => {
  expect(allZones.slice(0, 3)).toEqual(['UTC', 'Europe/London', 'Europe/Dublin'])
  expect(allZones).toEqual(expect.arrayContaining(Intl.supportedValuesOf('timeZone')))
  expect(new Set(allZones).size).toBe(allZones.length)
  const offsets = allZones.filter(zone => /^[+-]/.test(zone))
  expect(offsets).toHaveLength(26 * 4 + 1)
  expect([offsets[0], offsets[1], offsets.at(-1)]).toEqual(['-12:00', '-11:45', '+14:00'])
  expect(allZones.indexOf('-12:00')).toBe(allZones.length - offsets.length)
})

test('an interpretation is possible unless calibration looked into its rule and excluded it', () => {
  const inForce = { definition: definitionDefaults, id: 'x', alive: { daysDecimals: ['null', '2'] } }
  expect(isPossible(inForce, 'daysDecimals', 2)).toBe(true)
  expect(isPossible(inForce, 'daysDecimals', null)).toBe(true)
  expect(isPossible(inForce, 'daysDecimals', 3)).toBe(false)
  expect(isPossible(inForce, 'bounds', 'exclusive')).toBe(true)
  expect(isPossible({ definition: definitionDefaults, id: 'default' }, 'bounds', 'exclusive')).toBe(true)
})
