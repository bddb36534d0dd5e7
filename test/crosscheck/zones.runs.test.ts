/** The zone in which the service counts days is among the candidates, whichever of the IANA zones it is. */
import { beforeAll, expect, test } from 'vitest'
import { plausibleZones } from '../../src/crosscheck/calibrate/plausible-zones.ts'
import { nearOffsets, readZones, type Zones } from '../../src/crosscheck/calibrate/zones.ts'
import { type ComparedRequisition, storedRequisitions } from '../../src/crosscheck/explain/requisitions.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { type PartyNames, readNames } from '../../src/crosscheck/metrics/group-keys.ts'
import type { MetricAnswer } from '../../src/crosscheck/metrics/their-metrics.ts'
import { timeToFill } from '../../src/sandbox/metrics/aggregates.ts'
import type { MeasuredRequisition } from '../../src/sandbox/metrics/groups.ts'
import { optionsOf } from '../../src/sandbox/options.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { thorough } from '../support/long-suite.ts'

const filled = useFilled()
let engine: Engine
let names: PartyNames
let zones: Zones
let stored: readonly ComparedRequisition[]
let requisitions: readonly MeasuredRequisition[]

beforeAll(async () => {
  engine = (await filled.duckdb()).engine
  names = await readNames(engine)
  zones = await readZones(engine)
  stored = [...(await storedRequisitions(engine, undefined)).values()]
  const { world } = await openSandbox({ scale: 0.2 })
  requisitions = world.all('requisitions') as unknown as readonly MeasuredRequisition[]
}, 120_000)

/** As the service would answer by this key. */
function answered(zone: string, key: 'month' | 'week'): MetricAnswer {
  const options = optionsOf({ 'day-zone': zone, 'week-start': 'sunday' })
  const rows = timeToFill(requisitions, { groupBy: [key] }, options)
  const groups = rows.map(({ group, rawCount }) => ({
    ...{ groupBy: key, group, figures: { rawCount }, hoursField: undefined },
  }))
  return { query: { metric: 'timeToFill', grouping: [key] }, groups, isComplete: true }
}

const likely = (zone: string): readonly string[] =>
  plausibleZones({
    definition: definitionDefaults,
    ...{ requisitions: stored, names, zones, answers: [answered(zone, 'month'), answered(zone, 'week')] },
  })

/** Whole hours, halves and quarters, with summer time of the north and of the south, half an hour of it, and none. */
const some = [
  ...['UTC', 'Europe/London', 'America/St_Johns', 'Asia/Calcutta', 'Asia/Katmandu', 'Australia/Lord_Howe'],
  ...['Pacific/Chatham', 'Africa/Casablanca', 'America/Sao_Paulo', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'],
]

test.each(thorough ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : some)('%s', zone => {
  const found = likely(zone)
  expect(found).toContain(zone)
  expect(found.length).toBeLessThan(zones.known.length / 2)
})

test('the database knows every zone of the machine, and zones that no record separates count as one', () => {
  expect(zones.known).toEqual(expect.arrayContaining(Intl.supportedValuesOf('timeZone')))
  expect(zones.sameAs('Africa/Abidjan')).toBe('UTC')
  expect(zones.sameAs('Asia/Tokyo')).not.toBe(zones.sameAs('Asia/Katmandu'))
})

test('an offset that no zone has is searched by the minute', () => {
  expect(nearOffsets(['+03:15', 'Europe/London'])).toEqual([])
  expect(nearOffsets(['+03:15', '+03:30'])).toEqual(expect.arrayContaining(['+03:17', '+03:01', '+03:44']))
  expect(nearOffsets(['-03:30'])[0]).toBe('-03:30')
})
