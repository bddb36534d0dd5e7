/** Requests about few records, chosen so that two interpretations give different answers. */
import { describe, expect, test } from 'vitest'
import { AnswerSet } from '../../../src/crosscheck/calibrate/answer-set.ts'
import { Fit } from '../../../src/crosscheck/calibrate/fit.ts'
import { probeThreshold, probeWindows, separate } from '../../../src/crosscheck/calibrate/probes.ts'
import type { MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import type { ContractOptions } from '../../../src/sandbox/options.ts'
import { requisition } from '../fill-cases.ts'
import { sheet } from '../hours-cases.ts'
import { serviceOf, type World } from '../in-memory.ts'
import { recordsOf } from './small-world.ts'

const accepted = (id: string, at: string) =>
  requisition(id, [], { agencies: [{ id: 'a1', name: 'A', dateAccepted: at }] })

function probing(world: World, options: Partial<ContractOptions> = {}, zones: readonly string[] = ['UTC']) {
  const records = recordsOf(world, zones)
  const answerSet = new AnswerSet(records)
  const fit = new Fit(answerSet)
  fit.restrict('zone', zones)
  const service = serviceOf(world, { options })
  return { probing: { records, asker: service, answerSet, fit }, service, fit }
}

const ranges = (service: ReturnType<typeof serviceOf>) =>
  service.asked.map(({ metric, from, to }) => `${metric} ${from} ${to}`)

describe('which days belong to a range', () => {
  // One acceptance on the 10th, two on the 11th, two on the 12th, and later ones that may still change.
  const days = ['10', '11', '11', '12', '12', '20'].map((day, index) =>
    accepted(`r${index}`, `2026-05-${day}T12:0${index}:00.000Z`),
  )
  const world = { requisitions: [...days, accepted('late', '2026-08-01T12:00:00.000Z')], timesheets: [] }

  test.each([
    ['inclusive', 'inclusive'],
    ['exclusive', 'inclusive'],
    ['inclusive', 'exclusive'],
  ] as const)('%s and %s is found by two days of unequal counts', async (from, to) => {
    const { probing: with1, service, fit } = probing(world, { from, to })
    await probeWindows(with1)
    expect(fit.definition).toMatchObject({ from })
    expect(fit.alive('to')).toContain(to)
    expect(service.asked[0]).toMatchObject({
      metric: 'timeToFill',
      grouping: [],
      from: '2026-05-10',
      to: '2026-05-11',
    })
  })

  test('is asked of weeks where no two days have unequal counts', async () => {
    const weeks = ['03', '10', '17', '24'].map(day =>
      sheet(`t${day}`, { weekEnding: `2026-05-${day}T00:00:00.000Z` }),
    )
    const {
      probing: with1,
      service,
      fit,
    } = probing({ requisitions: [], timesheets: weeks }, { from: 'exclusive' })
    await probeWindows(with1)
    expect(ranges(service)).toEqual([
      ...['workersOverHours 2026-05-17 2026-05-24', 'workersOverHours 2026-05-10 2026-05-17'],
      ...['workersOverHours 2026-05-21 2026-05-24', 'workersOverHours 2026-05-14 2026-05-17'],
    ])
    expect(fit.definition.from).toBe('exclusive')
  })

  test('is not asked where days of two zones are unclear', async () => {
    const unclear = ['10', '11', '11'].map((day, index) =>
      accepted(`r${index}`, `2026-05-${day}T23:30:00.000Z`),
    )
    const { probing: with1, service } = probing({ requisitions: unclear, timesheets: [] }, {}, [
      'UTC',
      'Europe/London',
    ])
    await probeWindows(with1)
    // The first question divides the zones.
    expect(service.asked.length).toBeGreaterThan(0)
    expect(service.asked[0]?.from).toBe(service.asked[0]?.to)
  })

  test('is not asked without a record', async () => {
    const { probing: with1, service } = probing({ requisitions: [], timesheets: [] })
    await probeWindows(with1)
    expect(service.asked).toEqual([])
  })
})

describe('the zone', () => {
  const nights = ['10', '11', '12', '13'].flatMap((day, index) => [
    accepted(`n${index}`, `2026-06-${day}T23:30:00.000Z`),
    ...(index % 2 === 0 ? [accepted(`m${index}`, `2026-06-${day}T02:00:00.000Z`)] : []),
  ])

  test.each(['UTC', 'Europe/London', 'America/New_York'])(
    '%s is found by days that divide those that are left',
    async zone => {
      const zones = ['UTC', 'Europe/London', 'America/New_York']
      const { probing: with1, fit } = probing(
        { requisitions: nights, timesheets: [] },
        { 'day-zone': zone },
        zones,
      )
      await probeWindows(with1)
      expect(fit.definition.zone).toBe(zone)
    },
  )
})

describe('whether a week of exactly the threshold counts', () => {
  const weeks = [sheet('t1', { netHours: 47.5 }), sheet('t2', { netHours: 20, worker: { id: 'w2' } })]

  test.each(['over', 'at'] as const)('is found with the greatest week as threshold: %s', async threshold => {
    const { probing: with1, service, fit } = probing({ requisitions: [], timesheets: weeks }, { threshold })
    await probeThreshold(with1)
    expect(service.asked).toEqual([{ metric: 'workersOverHours', grouping: [], threshold: 47.5 }])
    expect(fit.definition.threshold).toBe(threshold)
    expect(fit.isOpen('threshold')).toBe(false)
  })

  test('is not asked when an answer decided it', async () => {
    const exact = [sheet('t1', { netHours: 48 })]
    const {
      probing: with1,
      service,
      fit,
    } = probing({ requisitions: [], timesheets: exact }, { threshold: 'at' })
    with1.answerSet.add(await service.ask({ metric: 'workersOverHours', grouping: [], threshold: 48 }))
    await probeThreshold(with1)
    expect([service.asked.length, fit.definition.threshold]).toEqual([1, 'at'])
  })

  test.each([
    [0, 0],
    [0.5, 1],
    [999.5, 1],
    [1000, 0],
  ])('of a greatest week of %d hours is asked %i times', async (netHours, count) => {
    const { probing: with1, service } = probing({ requisitions: [], timesheets: [sheet('t1', { netHours })] })
    await probeThreshold(with1)
    expect(service.asked).toHaveLength(count)
  })

  test('is not asked without a timesheet', async () => {
    const { probing: with1, service } = probing({ requisitions: [], timesheets: [] })
    await probeThreshold(with1)
    expect(service.asked).toEqual([])
  })
})

describe('two interpretations that are left', () => {
  const world = {
    requisitions: [requisition('p1', [2, 2, 2]), requisition('p2', [1, 2, 3, 4, 7])],
    timesheets: [],
  }
  const separated = async (
    parts: Partial<{ [Rule in 'bounds' | 'quantiles' | 'days']: readonly MetricDefinition[Rule][] }>,
  ) => {
    const { probing: with1, service, fit } = probing(world, { 'outlier-bounds': 'exclusive' })
    for (const rule of ['bounds', 'quantiles', 'valueQuantiles', 'days'] as const) {
      const { [rule as 'bounds']: alive = [fit.definition[rule]] } = parts
      fit.put(rule, { alive, state: 'untested', scores: {} })
    }
    let refits = 0
    const refit = async () => {
      refits += 1
      await fit.try(['bounds'], { metric: 'timeToFill', figures: ['excludedOutliers', 'count'] })
    }
    await separate({ ...with1, refit })
    return { asked: service.asked, fit, refits }
  }

  test('are separated by a group in which they differ', async () => {
    const { asked, fit, refits } = await separated({ bounds: ['inclusive', 'exclusive'] })
    expect(asked).toMatchObject([{ metric: 'timeToFill', grouping: ['project'], project: 'p1' }])
    expect([refits, fit.definition.bounds]).toEqual([1, 'exclusive'])
  })

  test('are not asked about where one is left, or no group differs', async () => {
    expect((await separated({})).asked).toEqual([])
    expect((await separated({ days: ['fractional', 'floor'] })).asked).toEqual([])
  })

  test('are asked about twice at most', async () => {
    const { asked, refits } = await separated({ quantiles: ['type7', 'type6'] })
    expect([asked.length, refits]).toEqual([2, 2])
  })
})
