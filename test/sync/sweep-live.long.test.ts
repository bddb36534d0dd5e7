/** Sweeps of a live sandbox over HTTP, in bad weather. MUSTER_TEST_SEEDS=1-250 chooses the seeds. */
import { afterAll, expect, test } from 'vitest'
import { faultNames } from '../fault-layer/faults.ts'
import { seedsOf } from '../support/seed-list.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { proveSweeps } from './sweep-seed.ts'
import { happenings } from './sweep-weather.ts'

const usual = { duckdb: '1-1000', postgres: '1-20' } as const

/** Ways in which a sweep ends, and what it leaves. */
const outcomes = [
  'ties',
  'sweep accepted',
  'sweep accepted baseline',
  'sweep implausible implausible',
  'sweep refused changed scope',
  'evidence sweep',
  'evidence by-id 404',
  'evidence event',
]

/** So few seeds may have drawn one thing hardly ever. */
const telling = 100

describeOnEngines('sweeps of a live service', ({ name, warehouse }) => {
  const seeds = seedsOf(usual[name])
  const sum: Record<string, number> = {}
  const add = (what: string, n: number) => {
    sum[what] = (sum[what] ?? 0) + n
  }
  for (let from = 0; from < seeds.length; from += 10) {
    const some = seeds.slice(from, from + 10)
    test(`seeds ${some[0]} to ${some.at(-1)}`, async () => {
      for (const seed of some) {
        const { happened, ...figures } = await proveSweeps({ name, warehouse }, seed)
        for (const [what, n] of [...Object.entries(figures), ...Object.entries(happened)]) add(what, n)
        add('seeds', 1)
      }
    }, 300_000)
  }

  test('and everything was tried', () => {
    expect(sum.seeds).toBe(seeds.length)
    expect(sum.tombstones).toBeGreaterThan(seeds.length)
    if (seeds.length < telling) return
    const tried = [...happenings, ...outcomes, ...faultNames.map(fault => `fault ${fault}`)]
    const seldom = tried.filter(what => !((sum[what] ?? 0) > seeds.length / 50))
    expect(seldom).toEqual([])
  })

  afterAll(() => console.info(name, JSON.stringify(sum)))
})
