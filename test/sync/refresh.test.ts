/** The refresh policy: what a read is worth, what is chosen for a budget, and what a run may spend. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventSignal, type SignalKind } from '../../src/state/by-id/signal-counts.ts'
import { allowanceOf } from '../../src/sync/by-id/allowance.ts'
import { priorOf, rateOf } from '../../src/sync/by-id/change-rate.ts'
import { backOffDays } from '../../src/sync/by-id/fetch.ts'
import {
  chanceOfChange,
  floorDays,
  floorShare,
  importanceOf,
  isWorthIt,
  RefreshChoice,
  type RefreshRecord,
  worthOf,
} from '../../src/sync/by-id/refresh-worth.ts'
import { SignalWorth } from '../../src/sync/by-id/signal-worth.ts'
import { simulate } from '../bench/freshness.ts'

const double = (min: number, max: number) => fc.double({ min, max, noNaN: true })

const stored: fc.Arbitrary<RefreshRecord> = fc.record({
  id: fc.string({ minLength: 1, maxLength: 8 }),
  age: double(0, 60),
  rate: double(1e-4, 10),
  importance: double(0.05, 5),
  isSignalled: fc.boolean(),
  doubt: fc.oneof(fc.constant(0), double(0, 4)),
})
const many = fc.uniqueArray(stored, { selector: ({ id }) => id, maxLength: 60 })

describe('what a read is worth', () => {
  test('grows with age and importance, and never beyond a record that has changed for sure', () => {
    fc.assert(
      fc.property(stored, double(0.001, 10), (one, more) => {
        const plain = { ...one, isSignalled: false }
        const worth = worthOf(plain)
        expect(worth).toBeGreaterThanOrEqual(0)
        expect(worthOf({ ...plain, age: one.age + more })).toBeGreaterThanOrEqual(worth)
        expect(worthOf({ ...plain, importance: 2 * one.importance })).toBeCloseTo(2 * worth, 9)
        expect(worthOf({ ...plain, isSignalled: true })).toBeGreaterThanOrEqual(worth)
        expect(worthOf({ ...plain, doubt: one.doubt + more })).toBeGreaterThanOrEqual(worth)
      }),
    )
  })

  test('is the formula, also where it would lose its digits', () => {
    const direct = (rate: number, age: number): number => 1 / rate - (age + 1 / rate) * Math.exp(-rate * age)
    const worth = (rate: number, age: number) =>
      worthOf({ id: '', rate, age, importance: 1, isSignalled: false, doubt: 0 })
    for (const x of [0.002, 0.1, 1, 20]) expect(worth(2, x / 2)).toBeCloseTo(direct(2, x / 2), 10)
    // From the series: rate age^2 / 2.
    expect(worth(1e-6, 1e-3) / (1e-6 * 1e-6 * 0.5)).toBeCloseTo(1, 6)
    // The series and the formula meet.
    expect(worth(1, 0.001 - 1e-9) / worth(1, 0.001 + 1e-9)).toBeCloseTo(1, 5)
  })

  test('a record in a terminal state counts less, and ever less as it stays quiet', () => {
    const live = importanceOf({ isTerminal: false, quietDays: 400 })
    const ended = [0, 90, 180, 4_000].map(quietDays => importanceOf({ isTerminal: true, quietDays }))
    expect([live, ...ended]).toEqual([5, 1, 0.5, 0.25, 0.05])
  })

  test('what was fetched just now is not worth a request, what is 30 days old is', () => {
    fc.assert(
      fc.property(stored, one => {
        const plain = { ...one, isSignalled: false, doubt: 0 }
        expect(isWorthIt({ ...plain, age: 0 })).toBe(false)
        expect(isWorthIt({ ...plain, age: floorDays })).toBe(true)
        expect(isWorthIt({ ...plain, age: 0, isSignalled: true })).toBe(true)
        expect(chanceOfChange(plain)).toBeLessThanOrEqual(1)
      }),
    )
  })
})

describe('the choice for a budget', () => {
  const choose = (
    records: readonly RefreshRecord[],
    requests: number,
    paced: number,
  ): readonly RefreshRecord[] => {
    const choice = new RefreshChoice({ requests, paced })
    for (const one of records) choice.add(one)
    return choice.chosen()
  }

  test('keeps to it, takes nothing twice and nothing that is not worth it, in whatever order records come', () => {
    fc.assert(
      fc.property(many, fc.tuple(fc.nat(70), fc.nat(70)), fc.nat(), (records, [requests, paced], turn) => {
        const chosen = choose(records, requests, paced)
        expect(chosen.length).toBeLessThanOrEqual(requests)
        expect(chosen.filter(({ isSignalled }) => !isSignalled).length).toBeLessThanOrEqual(paced)
        expect(new Set(chosen).size).toBe(chosen.length)
        expect(chosen.every(isWorthIt)).toBe(true)
        const at = records.length === 0 ? 0 : turn % records.length
        expect(choose([...records.slice(at), ...records.slice(0, at)], requests, paced)).toEqual(chosen)
      }),
    )
  })

  test('leaves out nothing that is worth more than what it takes, but for the oldest', () => {
    fc.assert(
      fc.property(many, fc.nat(70), (records, requests) => {
        const chosen = choose(records, requests, requests)
        const left = records.filter(one => isWorthIt(one) && !chosen.includes(one))
        if (left.length > 0) expect(chosen).toHaveLength(requests)
        const best = Math.max(0, ...left.map(worthOf))
        const lesser = chosen.filter(one => worthOf(one) < best)
        expect(lesser.length).toBeLessThanOrEqual(Math.floor(requests * floorShare))
        expect(lesser.every(({ age }) => age >= floorDays)).toBe(true)
      }),
    )
  })

  test('is as good for thousands as for a few', () => {
    const records = Array.from({ length: 5_000 }, (_, index) => ({
      id: String(index),
      age: (index * 7_919) % 29,
      rate: 0.1,
      importance: 1,
      isSignalled: false,
      doubt: 0,
    }))
    const chosen = choose(records, 10, 10)
    expect(chosen.map(({ age }) => age)).toEqual(Array.from({ length: 10 }, () => 28))
  })
})

describe('the worth of a change signal', () => {
  const declared = [
    { name: 'strong', share: 0.5 },
    { name: 'weak', share: 0.1 },
  ]
  const none = { signalled: 0, unchanged: 0, unchangedExpected: 0, quietChanges: 0, quietExpected: 0 }
  const learnt = (signal: string, kind: string, more: Partial<SignalKind>): SignalKind => ({
    ...none,
    signal,
    kind,
    ...more,
  })
  const factor = (known: readonly SignalKind[], signals: readonly string[], kind = 'live'): number =>
    new SignalWorth(declared, known).freshFactor({ kind, signals })

  test('is at first what its declaration says, and of several the strongest counts', () => {
    expect([factor([], []), factor([], ['weak']), factor([], ['weak', 'strong'])]).toEqual([1, 0.9, 0.5])
  })

  test('is nothing once reads have found as few changes as without it, in the states where that is so', () => {
    const idle = { signalled: 4_000, unchanged: 3_600, unchangedExpected: 3_600 }
    const telling = { signalled: 400, unchanged: 40, unchangedExpected: 360 }
    expect(factor([learnt('strong', 'live', idle)], ['strong'])).toBeGreaterThan(0.99)
    expect(factor([learnt('strong', 'live', telling)], ['strong'])).toBeCloseTo(40 / 360, 1)
    const both = [learnt('strong', 'live', idle), learnt('strong', 'ended', telling)]
    expect(factor(both, ['strong'])).toBeGreaterThan(0.97)
    expect(factor(both, ['strong'], 'ended')).toBeLessThan(0.2)
  })

  test('silence of what announces most changes makes them rarer, and silence of the rest does not', () => {
    const events = learnt(eventSignal, '', { quietChanges: 30, quietExpected: 300 })
    const weak = learnt('weak', 'live', { quietChanges: 330, quietExpected: 300 })
    const worth = new SignalWorth(declared, [events, weak])
    expect(worth.quietShare({ signals: [] })).toBeCloseTo(50 / 320, 9)
    expect(new SignalWorth(declared, [weak]).quietShare({ signals: [] })).toBe(1)
  })
})

describe('the rate of change', () => {
  test('lies between that of its kind and its own', () => {
    const evidence = fc.record({ changes: fc.nat(50), exposure: double(0.01, 500) })
    const prior = fc.record({ changes: double(0.01, 20), days: double(0.01, 500) })
    fc.assert(
      fc.property(evidence, prior, (one, known) => {
        const rate = rateOf(one, known)
        const [own, kind] = [one.changes / one.exposure, known.changes / known.days]
        expect(rate).toBeGreaterThanOrEqual(Math.min(own, kind) * (1 - 1e-9))
        expect(rate).toBeLessThanOrEqual(Math.max(own, kind) * (1 + 1e-9))
      }),
    )
  })

  test('of a kind whose records are alike, one record says little; of one whose records differ, much', () => {
    const kindOf = (changes: readonly number[]) =>
      priorOf({
        records: changes.length,
        changes: changes.reduce((sum, x) => sum + x, 0),
        exposure: 10 * changes.length,
        exposureSquared: 100 * changes.length,
        changesByExposure: changes.reduce((sum, x) => sum + 10 * x, 0),
        changesSquared: changes.reduce((sum, x) => sum + x * x, 0),
      })
    const alike = kindOf(Array.from({ length: 100 }, () => 5))
    const differing = kindOf(Array.from({ length: 100 }, (_, index) => (index % 10 === 0 ? 50 : 0)))
    expect(alike.changes / alike.days).toBeCloseTo(0.5, 1)
    expect(differing.changes / differing.days).toBeCloseTo(0.5, 1)
    expect(alike.changes).toBeGreaterThan(10 * differing.changes)
    const never = kindOf([0, 0, 0])
    expect(never.changes / never.days).toBeGreaterThan(0)
    expect(priorOf(undefined).changes).toBeGreaterThan(0)
  })
})

describe('what a run may spend', () => {
  const day = fc
    .record({
      spendablePerDay: fc.nat(100_000),
      spendableToday: fc.nat(100_000),
      limit: fc.nat(100_000),
      untilReset: fc.nat(86_400_000),
      sinceLast: fc.option(fc.nat(30 * 86_400_000)),
      listRequests: fc.nat(5_000),
    })
    .map(({ limit, ...rest }) => ({ ...rest, spendable: Math.min(limit, rest.spendableToday) }))

  test('never more than there is, and never all that later lists of the day need', () => {
    fc.assert(
      fc.property(day, one => {
        const { inAll, refresh } = allowanceOf(one)
        expect(inAll).toBeGreaterThanOrEqual(0)
        expect(inAll).toBeLessThanOrEqual(one.spendable)
        expect(refresh).toBeLessThanOrEqual(inAll)
        const later = one.sinceLast ? Math.floor(one.untilReset / one.sinceLast) * one.listRequests : 0
        expect(one.spendableToday - inAll).toBeGreaterThanOrEqual(Math.min(later, one.spendableToday / 2) - 1)
      }),
    )
  })

  test('a nightly run takes the day, an hourly one its part of it', () => {
    const hour = 3_600_000
    const today = { spendable: 1_500, spendableToday: 1_500, spendablePerDay: 1_500, listRequests: 10 }
    expect(allowanceOf({ ...today, untilReset: 22 * hour, sinceLast: 24 * hour })).toEqual({
      inAll: 1_500,
      refresh: 1_500,
    })
    expect(allowanceOf({ ...today, untilReset: 15 * hour, sinceLast: hour })).toEqual({
      inAll: 1_350,
      refresh: 100,
    })
    expect(allowanceOf({ ...today, untilReset: 15 * hour, sinceLast: null })).toEqual({
      inAll: 1_425,
      refresh: 1_425,
    })
  })
})

test('a record that could not be read is left alone for 1, 2, 4 and at most 30 days', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(backOffDays)).toEqual([1, 2, 4, 8, 16, 30, 30])
})

test('at 0.1 requests a row and day the warehouse is at least 15% fresher than by reading all alike', () => {
  const scenario = { rows: 800, budget: 0.1, runsPerDay: 4, warmDays: 40, days: 40, seed: 3 }
  const [uniform, index] = [simulate('uniform', scenario), simulate('index', scenario)]
  expect(index).toBeGreaterThan(1.15 * uniform)
  expect(index).toBeLessThan(1)
  expect(simulate('proportional', scenario)).toBeLessThan(index)
})

test('signals make the warehouse fresher where parents announce changes, and cost nothing where they announce none', () => {
  const scenario = { rows: 500, budget: 0.1, runsPerDay: 3, warmDays: 30, days: 30, seed: 3 }
  const gain = (announced: number): number =>
    simulate('index with signals', { ...scenario, announced }) / simulate('index', { ...scenario, announced })
  expect(gain(0.6)).toBeGreaterThan(1.03)
  expect(gain(0)).toBeGreaterThan(0.98)
})
