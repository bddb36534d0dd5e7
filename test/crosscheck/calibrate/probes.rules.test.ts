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

  const acceptedAt = (...times: readonly string[]): World => ({
    requisitions: times.map((at, index) => accepted(`r${index}`, `2026-${at}:00.000Z`)),
    timesheets: [],
  })

  test('is not asked of days that differ between two zones, nor of the days beside them', async () => {
    const unclear = ['05-18T12:00', '05-19T12:00', '05-19T13:00', '05-20T23:30', '05-22T12:00', '05-23T12:00']
    const clear = ['05-23T13:00', '05-10T12:00', '05-11T12:00', '05-11T13:00']
    const { probing: with1, service } = probing(acceptedAt(...unclear, ...clear), {}, [
      'UTC',
      'Europe/London',
    ])
    await probeWindows(with1)
    expect(ranges(service)).toEqual(['timeToFill 2026-05-10 2026-05-11', 'timeToFill 2026-05-20 2026-05-20'])
  })

  test('is asked of two days at most, those first that are four weeks older than the newest', async () => {
    const newest = ['08-01T12:00', '07-21T12:00', '07-21T13:00', '07-20T12:00', '07-05T12:00', '07-05T13:00']
    const fourWeeksOlder = '07-04T12:00'
    const asked = async (...times: readonly string[]) => {
      const { probing: with1, service } = probing(acceptedAt(...times))
      await probeWindows(with1)
      return service.asked.map(({ from }) => from?.slice(5))
    }
    expect(await asked(...newest, fourWeeksOlder)).toEqual(['07-20', '07-04'])
    expect(await asked(...newest, fourWeeksOlder, '07-04T11:59')).toEqual(['07-20'])
    const settled = ['05-02T12:00', '05-02T13:00', '05-01T12:00']
    expect(await asked(...newest, fourWeeksOlder, ...settled)).toEqual(['05-01', '07-20'])
  })

  test.each([
    ['inclusive', []],
    ['exclusive', ['2026-05-17 2026-05-24', '2026-05-10 2026-05-17']],
  ] as const)('is asked of weeks only where one of the two is left: to is %s', async (to, weeks) => {
    const timesheets = ['03', '10', '17', '24'].map(day =>
      sheet(`t${day}`, { weekEnding: `2026-05-${day}T12:00:00.000Z` }),
    )
    const { probing: with1, service } = probing({ ...world, timesheets }, { to })
    await probeWindows(with1)
    // No week ends at midnight, which would show whether the first instant of a day counts.
    expect(ranges(service).filter(range => range.startsWith('workers'))).toEqual(
      weeks.map(range => `workersOverHours ${range}`),
    )
  })

  test('is asked of weeks that end at midnight in every zone that is left', async () => {
    const timesheets = ['03', '10', '17'].map(day =>
      sheet(`t${day}`, { weekEnding: `2026-05-${day}T00:00:00.000Z` }),
    )
    const asked = async (...zones: readonly string[]) => {
      const { probing: with1, service } = probing({ requisitions: [], timesheets }, {}, zones)
      for (const rule of ['from', 'to'] as const)
        with1.fit.restrict(rule, [...with1.fit.alive(rule)] as 'inclusive'[])
      await probeWindows(with1)
      return ranges(service).slice(-2)
    }
    expect(await asked('UTC')).toEqual([
      ...['workersOverHours 2026-05-14 2026-05-17', 'workersOverHours 2026-05-07 2026-05-10'],
    ])
    expect(await asked('UTC', 'America/New_York')).toEqual([
      ...['workersOverHours 2026-05-10 2026-05-17', 'workersOverHours 2026-05-03 2026-05-10'],
    ])
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

  const many = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Asia/Tokyo']
  const asked = async (times: readonly string[], known: Partial<MetricDefinition> = {}) => {
    const requisitions = times.map((at, index) => accepted(`r${index}`, `2026-06-${at}:00.000Z`))
    const { probing: with1, service } = probing({ requisitions, timesheets: [] }, {}, many)
    for (const [rule, value] of Object.entries(known))
      with1.fit.acceptStated(rule as 'from', value as 'inclusive')
    await probeWindows(with1)
    return ranges(service)
  }

  test('is asked first of the day that divides zones most evenly', async () => {
    // The 20th is another day in Tokyo alone, the 10th in Tokyo and Kolkata.
    expect((await asked(['20T16:00', '10T23:30']))[0]).toBe('timeToFill 2026-06-10 2026-06-10')
    // Two or one on the 5th, none or one on the 6th.
    expect((await asked(['05T12:00', '05T23:30']))[0]).toBe('timeToFill 2026-06-05 2026-06-05')
  })

  test('is asked with ranges that hold one day, however days belong to a range', async () => {
    expect((await asked(['10T23:30'], { from: 'exclusive', to: 'exclusive' }))[0]).toBe(
      'timeToFill 2026-06-09 2026-06-11',
    )
    expect((await asked(['10T23:30'], { from: 'inclusive', to: 'midnight' }))[0]).toBe(
      'timeToFill 2026-06-10 2026-06-11',
    )
  })

  test('is asked of eight days at most, where no zone explains the answers', async () => {
    // One a day at noon, and another before midnight on every other day.
    const served = (times: number) =>
      Array.from({ length: 12 * times }, (_, index) => {
        const day = 10 + (index % 12)
        const noon = accepted(`n${index}`, `2026-06-${day}T12:00:00.000Z`)
        return day % 2 === 0 ? [noon] : [noon, accepted(`m${index}`, `2026-06-${day}T23:30:00.000Z`)]
      }).flat()
    const { probing: with1 } = probing({ requisitions: served(1), timesheets: [] }, {}, many)
    // It counts more on each day than any zone does.
    const service = serviceOf({ requisitions: served(5), timesheets: [] })
    with1.fit.acceptStated('from', 'inclusive')
    with1.fit.acceptStated('to', 'inclusive')
    await probeWindows({ ...with1, asker: service })
    const days = ranges(service)
    expect([days.length, new Set(days).size]).toEqual([8, 8])
  })
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
