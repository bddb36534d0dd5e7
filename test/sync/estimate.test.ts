/** The arithmetic of a plan holds for every size. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { namedRng } from '../../src/lib/rng.ts'
import { durationOf, estimate, type KnownSize, sumOf } from '../../src/sync/plan/estimate.ts'
import { distinctInAll } from '../../src/sync/plan/planned-ids.ts'

const total = fc.integer({ min: 0, max: 20_000_000 })
const size: fc.Arbitrary<KnownSize> = fc.oneof(
  fc.record({
    kind: fc.constant('backfill' as const),
    total,
    canWindow: fc.boolean(),
    pagesDone: fc.nat(100_000),
  }),
  fc.record({ kind: fc.constant('between' as const), total }),
  fc.record({
    kind: fc.constant('changes' as const),
    total,
    changed: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
    days: fc.nat(400),
  }),
  fc.record({
    kind: fc.constant('snapshot' as const),
    scopes: fc.nat(5000),
    pages: fc.option(fc.nat(20_000), { nil: undefined }),
    source: fc.constant('as last time'),
    isCounted: fc.boolean(),
  }),
)

const limits = fc.record({
  perMinute: fc.integer({ min: 1, max: 10_000 }),
  spendableToday: fc.nat(100_000),
  spendablePerDay: fc.integer({ min: 1, max: 100_000 }),
})

describe('estimate', () => {
  test('is a range of requests with its reason', () => {
    fc.assert(
      fc.property(size, one => {
        const { low, high, reasoning } = estimate(one)
        expect(Number.isInteger(low) && Number.isInteger(high)).toBe(true)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeGreaterThanOrEqual(low)
        expect(reasoning.length).toBeGreaterThan(5)
        expect(reasoning).not.toMatch(/\b1 (rows|pages|windows|days|scopes)\b/)
      }),
      { examples: [[{ kind: 'backfill', total: 1, canWindow: false, pagesDone: 0 }]] },
    )
  })

  test('of a first sync is at least its pages, and grows with the list', () => {
    fc.assert(
      fc.property(total, total, fc.boolean(), (one, other, canWindow) => {
        const [small, large] = [Math.min(one, other), Math.max(one, other)]
        const of = (rows: number) => estimate({ kind: 'backfill', total: rows, canWindow, pagesDone: 0 })
        expect(of(small).low).toBeGreaterThan(Math.ceil(small / 200))
        expect(of(large).low).toBeGreaterThanOrEqual(of(small).low)
        expect(of(large).high).toBeLessThan(Math.ceil(large / 200) * 1.25 + 10)
      }),
    )
  })

  test('of a first sync under way shrinks with every page that is done', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100_000, max: 20_000_000 }), fc.nat(500), (rows, done) => {
        const of = (pagesDone: number) =>
          estimate({ kind: 'backfill', total: rows, canWindow: true, pagesDone })
        expect(of(done + 50).low).toBeLessThanOrEqual(of(done).low)
      }),
    )
  })

  test('of changes is one request to two more than their pages', () => {
    expect(estimate({ kind: 'changes', total: 100_000, changed: 401, days: 1 })).toMatchObject({
      low: 3,
      high: 5,
    })
    expect(estimate({ kind: 'changes', total: 100_000, changed: 0, days: 1 })).toMatchObject({
      low: 1,
      high: 3,
    })
    expect(estimate({ kind: 'changes', total: 0, changed: undefined, days: 0 })).toMatchObject({
      low: 1,
      high: 2,
    })
  })

  test('of snapshots is nothing when nothing is due', () => {
    const due = { kind: 'snapshot', scopes: 0, pages: 0, source: '', isCounted: true } as const
    expect(estimate(due)).toMatchObject({ low: 0, high: 0 })
  })
})

describe('durationOf', () => {
  test('the days that it counts are enough, and one day less is not', () => {
    fc.assert(
      fc.property(fc.nat(5_000_000), limits, (requests, key) => {
        const { days, minutes } = durationOf(requests, key)
        const spendable = (count: number): number => {
          if (count <= 0) return 0
          return key.spendableToday + (key.spendableToday > 0 ? count - 1 : count) * key.spendablePerDay
        }
        expect(spendable(days)).toBeGreaterThanOrEqual(requests)
        if (days > 0) expect(spendable(days - 1)).toBeLessThan(requests)
        expect(minutes * key.perMinute).toBeGreaterThanOrEqual(requests)
      }),
    )
  })

  test('in words', () => {
    const key = { perMinute: 60, spendableToday: 1000, spendablePerDay: 3750 }
    expect(durationOf(0, key)).toEqual({ minutes: 0, days: 0 })
    expect(durationOf(1000, key)).toEqual({ minutes: 17, days: 1 })
    expect(durationOf(1001, key)).toEqual({ minutes: 17, days: 2 })
  })

  test('sums add up', () =>
    expect(
      sumOf([
        { low: 1, high: 2 },
        { low: 3, high: 5 },
      ]),
    ).toEqual({ low: 4, high: 7 }))
})

describe('ids to come from a sample', () => {
  test('the complete list is counted', () => expect(distinctInAll(101, 1_500, 1_500)).toBe(101))

  test.each([
    [100, 600, 5_000],
    [500, 1_200, 15_000],
    [3_000, 1_200, 15_000],
  ])('%i ids, named at random, are found within a tenth from %i of %i records', (ids, size, total) => {
    const rng = namedRng(ids, 'sample')
    const named = Array.from({ length: total }, () => Math.floor(rng() * ids))
    const all = new Set(named).size
    const found = distinctInAll(new Set(named.slice(0, size)).size, size, total)
    expect(Math.abs(found - all)).toBeLessThan(0.1 * all)
  })

  test('where no id was named twice there may be one for each record', () =>
    expect(distinctInAll(200, 200, 1_000)).toBeGreaterThan(990))
})
