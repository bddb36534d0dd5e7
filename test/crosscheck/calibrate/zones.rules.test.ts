/** Zones in which a service may count days, as far as records tell them apart. */
import { describe, expect, test } from 'vitest'
import { plausibleZones } from '../../../src/crosscheck/calibrate/plausible-zones.ts'
import { readRecords } from '../../../src/crosscheck/calibrate/records.ts'
import { nearOffsets, Zones } from '../../../src/crosscheck/calibrate/zones.ts'
import { servedRequisition } from '../../../src/crosscheck/explain/requisitions.ts'
import { allZones, definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'
import { utcDay } from '../../../src/lib/dates.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { requisition } from '../fill-cases.ts'
import { sheet } from '../hours-cases.ts'
import { namesOf, serviceOf, type World } from '../in-memory.ts'

const ms = (...times: readonly string[]) => times.map(time => Date.parse(time))

describe('zones that show the same days', () => {
  const known = ['UTC', 'Europe/London', 'America/New_York', 'Asia/Tokyo', '+00:30', '-00:30']
  const zones = (timeToFill: readonly string[], workersOverHours: readonly string[] = []) =>
    new Zones(known, { timeToFill: ms(...timeToFill), workersOverHours: ms(...workersOverHours) })

  test('are one, whose name is that of the first', () => {
    const one = zones(['2026-01-10T12:00:00Z'])
    expect(known.map(zone => one.sameAs(zone))).toEqual(Array(6).fill('UTC'))
    expect(one.sameAs('Asia/Kolkata')).toBe('UTC')
  })

  test('differ by a time of which they show another day', () => {
    const one = zones(['2026-07-10T23:30:00Z', '2026-07-10T00:15:00Z'])
    expect(known.map(zone => one.sameAs(zone))).toEqual([
      ...['UTC', 'Europe/London', 'America/New_York', 'Europe/London', 'Europe/London', 'America/New_York'],
    ])
  })

  test('differ on the day on which clocks change, at that time', () => {
    const spring = zones(['2026-03-28T23:30:00Z'])
    expect(spring.sameAs('Europe/London')).toBe('UTC')
    const summer = zones(['2026-03-29T23:00:00Z'])
    expect(summer.sameAs('Europe/London')).toBe('Europe/London')
    const winter = zones(['2026-10-25T23:30:00Z'])
    expect(winter.sameAs('Europe/London')).toBe('UTC')
    expect(zones(['2026-10-24T23:00:00Z']).sameAs('Europe/London')).toBe('Europe/London')
    expect(zones(['2026-10-24T22:59:59Z']).sameAs('Europe/London')).toBe('UTC')
  })

  test('for one metric may be two for the other, and then are two', () => {
    const one = zones(['2026-01-10T12:00:00Z'], ['2026-07-10T23:30:00Z'])
    expect(one.sameAs('Europe/London', 'timeToFill')).toBe('UTC')
    expect(one.sameAs('Europe/London', 'workersOverHours')).toBe('Europe/London')
    expect(one.sameAs('Europe/London')).toBe('Europe/London')
  })

  test('a zone that shows days as none of the known ones does is itself', () => {
    expect(zones(['2026-07-10T02:00:00Z', '2026-07-10T12:30:00Z']).sameAs('Pacific/Auckland')).toBe(
      'Pacific/Auckland',
    )
  })
})

describe('offsets by the minute', () => {
  test('are searched for where no zone is left, within a quarter of an hour of those that are', () => {
    const near = nearOffsets(['+03:15', '+03:30'])
    expect(near).toHaveLength(14 + 15 + 1 + 14)
    expect(near.slice(0, 2)).toEqual(['+03:15', '+03:30'])
    expect([...near].sort()[0]).toBe('+03:01')
    expect([...near].sort().at(-1)).toBe('+03:44')
  })

  test('before UTC too', () => {
    expect(nearOffsets(['-00:15'])).toContain('-00:01')
    expect(nearOffsets(['-00:15']).slice(0, 1)).toEqual(['-00:15'])
    expect(nearOffsets(['-00:15'])).toContain('-00:29')
  })

  test.each([[[]], [['UTC']], [['+03:15', 'Europe/London']], [['America/Port-au-Prince']]])(
    'are empty for %j',
    zones => {
      expect(nearOffsets(zones)).toEqual([])
    },
  )
})

describe('plausible zones', () => {
  const known = ['UTC', 'Europe/London', 'America/New_York', 'Asia/Tokyo']
  const accepted = (id: string, at: string) =>
    requisition(id, [], { agencies: [{ id: 'a1', name: 'A', dateAccepted: at }] })
  /** At the ends of months and weeks in many zones. */
  const world: World = {
    requisitions: ['2026-03', '2026-05', '2026-07', '2026-09'].flatMap((month, index) => [
      accepted(`a${index}`, `${month}-30T23:30:00.000Z`),
      accepted(`b${index}`, `${utcDay(`${month}-30`, 1)}T23:30:00.000Z`),
      accepted(`c${index}`, `${utcDay(`${month}-30`, 1)}T16:30:00.000Z`),
      accepted(`d${index}`, `${month}-01T02:00:00.000Z`),
      accepted(`e${index}`, `${month}-15T12:00:00.000Z`),
    ]),
    timesheets: [],
  }
  const stored = world.requisitions.map(one => servedRequisition(one as Record<string, unknown>))

  async function likely(
    zone: string,
    parts: { groupings?: readonly ('month' | 'week' | 'project')[]; requisitions?: typeof stored } = {},
  ) {
    const { groupings = ['month', 'week'], requisitions = stored } = parts
    const service = serviceOf(world, { options: { 'day-zone': zone, 'week-start': 'saturday' } })
    const answers = await Promise.all(
      groupings.map(key => service.ask({ metric: 'timeToFill', grouping: [key] })),
    )
    const moments = requisitions.flatMap(({ answers: all }) => all.map(({ acceptedAt }) => acceptedAt))
    const zones = new Zones(known, { timeToFill: moments, workersOverHours: [] })
    return plausibleZones({
      definition: definitionDefaults,
      names: namesOf(world),
      zones,
      requisitions,
      answers,
    })
  }

  // London loses two groups beside New York, as many as lost records may spoil.
  test.each([
    ['UTC', ['UTC']],
    ['Europe/London', ['Europe/London']],
    ['America/New_York', ['Europe/London', 'America/New_York']],
    ['Asia/Tokyo', ['Asia/Tokyo']],
  ])('of a service in %s are %j', async (zone, zones) => {
    expect(await likely(zone)).toEqual(zones)
  })

  test('are all without an answer by month, or without an acceptance', async () => {
    expect(await likely('UTC', { groupings: ['week'] })).toEqual(known)
    expect(await likely('UTC', { requisitions: [] })).toEqual(known)
  })

  test('may agree in two groups fewer than the best, as a lost record spoils some', async () => {
    const few = stored.filter(({ id }) => id === 'a1' || id === 'c3')
    const found = await likely('UTC', { requisitions: few })
    expect(found).toContain('UTC')
  })
})

describe('of a warehouse', () => {
  const warehouse = rulesWarehouse()

  test('records are read once each, newest first, without deleted ones', async () => {
    await warehouse.load(resourceOf('requisitions'), [requisition('r1', [2, 1, 2]), requisition('r2', [9])])
    await warehouse.load(resourceOf('timesheets'), [
      sheet('t1'),
      sheet('t2'),
      sheet('t3', { weekEnding: '2026-05-17T00:00:00.000Z' }),
      sheet('t4', { weekEnding: null }),
      sheet('t5', { weekEnding: '2026-05-24T00:00:00.000Z' }),
    ])
    await warehouse.engine.run(`update star.fact_timesheet set is_deleted = true where timesheet_id = 't5'`)
    await warehouse.engine.run(
      `update star.fact_requisition_agency set is_deleted = true where requisition_id = 'r2'`,
    )
    const { acceptances, weekEndings, requisitions, zones, measure } = await readRecords(warehouse.engine)
    expect(acceptances).toEqual(ms('2026-01-03', '2026-01-02'))
    expect(weekEndings).toEqual(ms('2026-05-17', '2026-05-10'))
    expect(requisitions.map(({ id }) => id)).toEqual(['r1', 'r2'])
    expect(zones.known).toEqual(expect.arrayContaining(['UTC', 'Europe/London', '+05:15']))
    expect(allZones).toEqual(expect.arrayContaining([...zones.known]))
    const query = { metric: 'workersOverHours', groupings: [[]] } as const
    expect((await measure(query, [definitionDefaults]))[0]?.[0]?.figures.workerWeeks).toBe(2)
  })

  test('zones differ by approvals and by weeks, too', async () => {
    const { zones } = await readRecords(warehouse.engine)
    // Approved at midnight of 1 January.
    expect(zones.sameAs('America/New_York', 'timeToFill')).not.toBe('UTC')
    expect(zones.sameAs('America/New_York', 'workersOverHours')).not.toBe('UTC')
    expect(zones.sameAs('Asia/Tokyo')).toBe('UTC')
  })
})
