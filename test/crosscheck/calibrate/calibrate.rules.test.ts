/** Whole calibrations in memory: what the service decided where the contract leaves it a choice is found. */
import { expect, test } from 'vitest'
import { calibrateOn } from '../../../src/crosscheck/calibrate/calibrate.ts'
import { groupingName } from '../../../src/crosscheck/metrics/metric-query.ts'
import { dayMs } from '../../../src/lib/dates.ts'
import { serviceOf } from '../in-memory.ts'
import { recordsOf, smallWorld } from './small-world.ts'

const world = smallWorld()
const zones = ['UTC', 'Europe/London', 'America/New_York', 'Asia/Kolkata', 'Asia/Tokyo', '+05:15']

const shown = ({ rules }: Awaited<ReturnType<typeof calibrateOn>>) =>
  Object.fromEntries([...rules].map(([rule, { state, alive }]) => [rule, [state, ...alive]]))

test('a service that decided as by default is found to, after 14 questions and three probes', async () => {
  const service = serviceOf(world)
  const found = await calibrateOn(recordsOf(world, zones), service)
  expect(shown(found)).toEqual({
    ...{ refKey: ['stated', 'ref'], monthKey: ['stated', 'yearMonth'], weekKey: ['stated', 'isoWeek'] },
    ...{ hoursField: ['stated', 'netHours'], companies: ['stated', null] },
    ...{ daysDecimals: ['found', null], hoursDecimals: ['found', null], minForRule: ['found', 1] },
    acceptance: ['found', 'perAgency'],
    requisitionStatuses: ['found', ['raised', 'approved', 'filled', 'cancelled', 'rejected']],
    ...{
      timesheetStatuses: ['found', ['approved']],
      workerWeek: ['indistinguishable', 'worker', 'calendarWeek'],
    },
    ...{ zone: ['indistinguishable', 'UTC', 'Europe/London'], weekStart: ['found', 'monday'] },
    ...{ negativeDays: ['found', 'counted'], days: ['found', 'fractional'] },
    ...{ quantiles: ['found', 'type7'], valueQuantiles: ['found', 'type7'], bounds: ['found', 'inclusive'] },
    ...{ from: ['found', 'inclusive'], to: ['found', 'inclusive'], threshold: ['found', 'over'] },
  })
  expect(found.stopped).toBeUndefined()
  expect(found.requests).toBe(service.requests)
  expect(
    service.asked.slice(0, 14).map(({ metric, grouping }) => `${metric} ${groupingName(grouping)}`),
  ).toEqual([
    ...['all', 'company', 'agency', 'project', 'month', 'week', 'project,agency', 'project,agency,week'].map(
      name => `timeToFill ${name}`,
    ),
    ...['all', 'company', 'project', 'week', 'month', 'project,agency,month'].map(
      name => `workersOverHours ${name}`,
    ),
  ])
  expect(service.asked).toHaveLength(17)
})

test('a service that decided otherwise throughout is found to', async () => {
  const service = serviceOf(world, {
    options: {
      ...{ quantiles: 'type6', 'fill-days': 'calendarZone', 'fill-negative': 'zero', acceptance: 'latest' },
      ...{ 'outlier-bounds': 'exclusive', 'outlier-min': 4, 'week-start': 'sunday', threshold: 'at' },
      ...{ 'week-key': 'firstDay', 'month-key': 'firstDay', 'group-ref': 'name', decimals: 2 },
      ...{ 'fill-statuses': ['filled', 'raised'], 'hours-statuses': ['approved', 'pending'] },
      ...{ from: 'exclusive', to: 'midnight', 'day-zone': 'America/New_York' },
    },
  })
  const found = await calibrateOn(recordsOf(world, zones), service)
  expect(shown(found)).toEqual({
    ...{ refKey: ['stated', 'name'], monthKey: ['stated', 'firstDay'], weekKey: ['stated', 'firstDay'] },
    ...{ hoursField: ['stated', 'netHours'], companies: ['stated', null] },
    ...{ daysDecimals: ['found', 2], hoursDecimals: ['found', 2], minForRule: ['indistinguishable', 4, 5] },
    ...{ acceptance: ['found', 'latest'], requisitionStatuses: ['found', ['raised', 'filled']] },
    ...{
      timesheetStatuses: ['found', ['approved', 'pending']],
      workerWeek: ['indistinguishable', 'worker', 'calendarWeek'],
    },
    ...{ zone: ['found', 'America/New_York'], weekStart: ['found', 'sunday'] },
    ...{ negativeDays: ['found', 'zero'], days: ['found', 'calendarZone'] },
    ...{ quantiles: ['found', 'type6'], valueQuantiles: ['found', 'type6'] },
    ...{ bounds: ['indistinguishable', 'inclusive', 'exclusive'], from: ['found', 'exclusive'] },
    ...{ to: ['indistinguishable', 'midnight', 'exclusive'], threshold: ['found', 'at'] },
  })
})

/** Workers with several timesheets a week, at companies that end weeks on Saturday, Sunday and Monday. */
const severalEnds = {
  ...world,
  timesheets: world.timesheets.map((sheet, index) => {
    const [week, end] = [Math.floor(index / 36), (Math.floor(index / 12) % 3) - 1]
    const weekEnding = new Date(Date.parse('2026-03-01') + (7 * week + end) * dayMs).toISOString()
    return { ...sheet, weekEnding, status: 'approved' }
  }),
}

test.each([
  ['weekEnding', 'sunday', ['indistinguishable', 'worker', 'timesheet']],
  ['calendarWeek', 'monday', ['found', 'calendarWeek']],
  ['calendarWeek', 'sunday', ['found', 'calendarWeek']],
  ['calendarWeek', 'saturday', ['found', 'calendarWeek']],
] as const)(
  'where companies end weeks on different days, weeks of a worker by %s from %s are found',
  async (rule, start, reading) => {
    const service = serviceOf(severalEnds, { options: { 'worker-week': rule, 'week-start': start } })
    const found = await calibrateOn(recordsOf(severalEnds, zones), service)
    expect(shown(found)).toMatchObject({ workerWeek: reading, weekStart: ['found', start] })
  },
)
