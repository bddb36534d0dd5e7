/** Whole calibrations in memory: what the service decided where the contract leaves it a choice is found. */
import { expect, test } from 'vitest'
import { calibrateOn } from '../../../src/crosscheck/calibrate/calibrate.ts'
import { groupingName } from '../../../src/crosscheck/metrics/metric-query.ts'
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
    ...{ refKey: ['told', 'ref'], monthKey: ['told', 'yearMonth'], weekKey: ['told', 'isoWeek'] },
    ...{ hoursField: ['told', 'netHours'], companies: ['told', null] },
    ...{ daysDecimals: ['found', null], hoursDecimals: ['found', null], leastForRule: ['found', 1] },
    acceptance: ['found', 'perAgency'],
    requisitionStatuses: ['found', ['raised', 'approved', 'filled', 'cancelled', 'rejected']],
    ...{ timesheetStatuses: ['found', ['approved']], workerWeek: ['found', 'worker'] },
    ...{ zone: ['indistinguishable', 'UTC', 'Europe/London'], weekStart: ['found', 'monday'] },
    ...{ negativeDays: ['found', 'kept'], days: ['found', 'fractional'] },
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
      ...{ 'outlier-bounds': 'exclusive', 'outlier-least': 4, 'week-start': 'sunday', threshold: 'at' },
      ...{ 'week-key': 'firstDay', 'month-key': 'firstDay', 'group-ref': 'name', decimals: 2 },
      ...{ 'fill-statuses': ['filled', 'raised'], 'hours-statuses': ['approved', 'pending'] },
      ...{ from: 'exclusive', to: 'midnight', 'day-zone': 'America/New_York' },
    },
  })
  const found = await calibrateOn(recordsOf(world, zones), service)
  expect(shown(found)).toEqual({
    ...{ refKey: ['told', 'name'], monthKey: ['told', 'firstDay'], weekKey: ['told', 'firstDay'] },
    ...{ hoursField: ['told', 'netHours'], companies: ['told', null] },
    ...{ daysDecimals: ['found', 2], hoursDecimals: ['found', 2], leastForRule: ['indistinguishable', 4, 5] },
    ...{ acceptance: ['found', 'latest'], requisitionStatuses: ['found', ['raised', 'filled']] },
    ...{ timesheetStatuses: ['found', ['approved', 'pending']], workerWeek: ['found', 'worker'] },
    ...{ zone: ['found', 'America/New_York'], weekStart: ['found', 'sunday'] },
    ...{ negativeDays: ['found', 'zero'], days: ['found', 'calendarZone'] },
    ...{ quantiles: ['found', 'type6'], valueQuantiles: ['found', 'type6'] },
    ...{ bounds: ['indistinguishable', 'inclusive', 'exclusive'], from: ['found', 'exclusive'] },
    ...{ to: ['indistinguishable', 'midnight', 'exclusive'], threshold: ['found', 'at'] },
  })
})
