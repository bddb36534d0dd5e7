/** Calibrations with services that decide by chance, where one record in ten is missing here, there, or on both sides. */
import { expect, test } from 'vitest'
import { calibrateOn } from '../../../src/crosscheck/calibrate/calibrate.ts'
import { groupingName } from '../../../src/crosscheck/metrics/metric-query.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { serviceOf, type World } from '../in-memory.ts'
import { drawnOptions, readingsOf } from '../settings.ts'
import { recordsOf, smallWorld } from './small-world.ts'

const zones = ['UTC', 'Europe/London', 'America/New_York', 'Asia/Kolkata', 'Asia/Tokyo', '+05:15'] as const

type Missing = 'none' | 'here' | 'there' | 'both'

function sides(seed: number, missing: Missing): Readonly<Record<'ours' | 'theirs', World>> {
  const world = smallWorld(7 + (seed % 5))
  const rng = seededRng(seed + 1000)
  const without = (isMissing: boolean): World =>
    isMissing
      ? {
          requisitions: world.requisitions.filter(() => rng() > 0.1),
          timesheets: world.timesheets.filter(() => rng() > 0.1),
        }
      : world
  return {
    ours: without(missing === 'here' || missing === 'both'),
    theirs: without(missing === 'there' || missing === 'both'),
  }
}

const words = (alive: readonly unknown[]): string =>
  alive.map(one => (Array.isArray(one) ? one.join('+') : String(one))).join(' or ')

/** In one order. */
const sorted = (reading: unknown): string =>
  JSON.stringify(Array.isArray(reading) ? [...reading].sort() : reading)

/** What is known of each rule, the rules of which the service's own reading was ruled out, and the questions after the first 14. */
async function calibrated(seed: number, missing: Missing) {
  const { ours, theirs } = sides(seed, missing)
  const options = { ...drawnOptions(seed), 'day-zone': zones[seed % 6] ?? 'UTC' }
  const service = serviceOf(theirs, { options })
  const { rules } = await calibrateOn(recordsOf(ours, zones), service)
  const found = [...rules].filter(([, { state }]) => state !== 'stated')
  const readings = readingsOf(options)
  return {
    ...Object.fromEntries(
      found.map(([rule, { state, alive }]) => [rule, state === 'none fits' ? state : words(alive)]),
    ),
    wrong: found
      .filter(([rule, { alive }]) => rule in readings && !alive.map(sorted).includes(sorted(readings[rule])))
      .map(([rule]) => rule),
    asked: service.asked
      .slice(14)
      .map(({ metric, grouping, from, to, threshold, project, agency }) =>
        [metric, groupingName(grouping), from, to, threshold, project, agency]
          .filter(word => word !== undefined)
          .join(' '),
      ),
  }
}

test('where one record in ten is missing here, midnights of London, five decimals and a least size of eight are found', async () => {
  expect(await calibrated(9, 'here')).toMatchInlineSnapshot(`
    {
      "acceptance": "latest",
      "asked": [
        "timeToFill all 2026-03-05 2026-03-06",
        "timeToFill all 2026-03-04 2026-03-05",
        "timeToFill all 2026-02-12 2026-02-12",
        "timeToFill all 2026-04-19 2026-04-19",
        "timeToFill all 2026-04-13 2026-04-13",
        "timeToFill all 2026-04-07 2026-04-07",
        "timeToFill all 2026-03-27 2026-03-27",
        "timeToFill all 2026-03-16 2026-03-16",
        "timeToFill project p2",
      ],
      "bounds": "inclusive or exclusive",
      "days": "calendarLondon",
      "daysDecimals": "5",
      "from": "inclusive",
      "hoursDecimals": "null or 5",
      "minForRule": "8",
      "negativeDays": "counted or zero or dropped",
      "quantiles": "type6",
      "requisitionStatuses": "raised+approved+cancelled",
      "threshold": "at",
      "timesheetStatuses": "approved+pending_approval or approved+pending or approved+cancelled",
      "to": "inclusive",
      "valueQuantiles": "type6",
      "weekStart": "monday",
      "workerWeek": "timesheet",
      "wrong": [],
      "zone": "Asia/Kolkata",
    }
  `)
})

test('where one record in ten is missing there, the nearest rank and hours of timelogs are found', async () => {
  expect(await calibrated(30, 'there')).toMatchInlineSnapshot(`
    {
      "acceptance": "perAgency",
      "asked": [
        "timeToFill all 2026-04-08 2026-04-09",
        "timeToFill all 2026-03-13 2026-03-14",
        "workersOverHours all 2026-03-08 2026-03-15",
        "workersOverHours all 2026-03-01 2026-03-08",
        "workersOverHours all 2026-03-12 2026-03-15",
        "workersOverHours all 2026-03-05 2026-03-08",
        "workersOverHours all 62",
      ],
      "bounds": "inclusive or exclusive",
      "days": "calendarUtc or calendarLondon or calendarZone",
      "daysDecimals": "null",
      "from": "inclusive or exclusive",
      "hoursDecimals": "none fits",
      "minForRule": "4 or 5",
      "negativeDays": "counted or zero or dropped",
      "quantiles": "type2 or nearestRank or floorIndex",
      "requisitionStatuses": "raised",
      "threshold": "at",
      "timesheetStatuses": "approved+pending_approval+pending+cancelled or approved+pending_approval+absent+cancelled or approved+pending+absent+cancelled or approved+pending_approval+cancelled",
      "to": "inclusive or midnight",
      "valueQuantiles": "nearestRank",
      "weekStart": "saturday",
      "workerWeek": "worker or calendarWeek",
      "wrong": [],
      "zone": "UTC or Europe/London",
    }
  `)
})

test('where one record in ten is missing here, the first answer and a least size of seven are found', async () => {
  expect(await calibrated(5, 'here')).toMatchInlineSnapshot(`
    {
      "acceptance": "earliest",
      "asked": [
        "timeToFill all 2026-03-02 2026-03-03",
        "timeToFill all 2026-02-15 2026-02-16",
        "workersOverHours all 2026-03-08 2026-03-15",
        "workersOverHours all 2026-03-01 2026-03-08",
        "timeToFill all 2026-04-09 2026-04-10",
        "timeToFill all 2026-03-21 2026-03-22",
        "timeToFill all 2026-03-10 2026-03-11",
      ],
      "bounds": "inclusive or exclusive",
      "days": "calendarLondon",
      "daysDecimals": "5",
      "from": "inclusive",
      "hoursDecimals": "null or 5",
      "minForRule": "7",
      "negativeDays": "counted",
      "quantiles": "type2",
      "requisitionStatuses": "filled+cancelled+rejected",
      "threshold": "at",
      "timesheetStatuses": "pending_approval+absent",
      "to": "midnight or exclusive",
      "valueQuantiles": "type2",
      "weekStart": "saturday",
      "workerWeek": "worker or calendarWeek",
      "wrong": [],
      "zone": "Asia/Kolkata or +05:15",
    }
  `)
})

test('where one record in ten is missing there, midnights of Tokyo are found; statuses and the threshold may be wrong', async () => {
  expect(await calibrated(10, 'there')).toMatchInlineSnapshot(`
    {
      "acceptance": "latest",
      "asked": [
        "timeToFill all 2026-04-09 2026-04-10",
        "timeToFill all 2026-03-12 2026-03-13",
        "workersOverHours all 2026-03-08 2026-03-15",
        "workersOverHours all 2026-03-01 2026-03-08",
        "workersOverHours all 62",
      ],
      "bounds": "inclusive or exclusive",
      "days": "calendarZone",
      "daysDecimals": "3",
      "from": "inclusive",
      "hoursDecimals": "null or 3",
      "minForRule": "5 or 6",
      "negativeDays": "dropped",
      "quantiles": "type8",
      "requisitionStatuses": "raised+approved+filled",
      "threshold": "over",
      "timesheetStatuses": "none fits",
      "to": "midnight or exclusive",
      "valueQuantiles": "type8",
      "weekStart": "monday",
      "workerWeek": "worker or timesheet or calendarWeek",
      "wrong": [
        "requisitionStatuses",
        "threshold",
      ],
      "zone": "Asia/Tokyo",
    }
  `)
})

test('where one record in ten is missing on both sides, rounded days are found; the zone and statuses may be wrong', async () => {
  expect(await calibrated(11, 'both')).toMatchInlineSnapshot(`
    {
      "acceptance": "earliest",
      "asked": [
        "timeToFill all 2026-03-08 2026-03-09",
        "timeToFill all 2026-02-23 2026-02-24",
        "workersOverHours all 2026-03-08 2026-03-15",
        "workersOverHours all 2026-03-01 2026-03-08",
        "timeToFill all 2026-03-30 2026-04-01",
        "timeToFill all 2026-03-29 2026-03-31",
        "timeToFill all 2026-02-19 2026-02-21",
        "timeToFill all 2026-02-11 2026-02-13",
      ],
      "bounds": "inclusive or exclusive",
      "days": "round",
      "daysDecimals": "null or 3",
      "from": "exclusive",
      "hoursDecimals": "null or 3",
      "minForRule": "6",
      "negativeDays": "zero",
      "quantiles": "type7 or type6 or type5 or type8 or type2 or nearestRank or floorIndex",
      "requisitionStatuses": "approved+rejected",
      "threshold": "over",
      "timesheetStatuses": "approved+pending_approval+absent+cancelled or approved+pending_approval+pending",
      "to": "exclusive",
      "valueQuantiles": "type8",
      "weekStart": "monday",
      "workerWeek": "worker or calendarWeek",
      "wrong": [
        "timesheetStatuses",
        "zone",
      ],
      "zone": "Asia/Tokyo",
    }
  `)
})

test('where no record is missing, six decimals and exclusive bounds are found', async () => {
  expect(await calibrated(24, 'none')).toMatchInlineSnapshot(`
    {
      "acceptance": "perAgency",
      "asked": [
        "timeToFill all 2026-03-29 2026-03-30",
        "timeToFill all 2026-03-05 2026-03-06",
        "timeToFill all 2026-04-23 2026-04-23",
        "timeToFill all 2026-04-27 2026-04-27",
      ],
      "bounds": "exclusive",
      "days": "calendarUtc or calendarZone",
      "daysDecimals": "null or 6",
      "from": "inclusive",
      "hoursDecimals": "null or 6",
      "minForRule": "1",
      "negativeDays": "counted",
      "quantiles": "type6",
      "requisitionStatuses": "raised+approved+filled+rejected",
      "threshold": "at",
      "timesheetStatuses": "approved+cancelled",
      "to": "inclusive",
      "valueQuantiles": "type6",
      "weekStart": "monday",
      "workerWeek": "worker or calendarWeek",
      "wrong": [],
      "zone": "UTC",
    }
  `)
})
