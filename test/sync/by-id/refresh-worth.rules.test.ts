/** Which stored records are fetched again: what a fetch is worth, and what is chosen for a budget. */
import { describe, expect, test } from 'vitest'
import {
  chanceOfChange,
  importanceOf,
  isWorthIt,
  type RefreshBudget,
  RefreshChoice,
  type RefreshRecord,
  worthOf,
} from '../../../src/sync/by-id/refresh-worth.ts'

const record = (parts: Partial<RefreshRecord> = {}): RefreshRecord => ({
  ...{ id: 'r', age: 1, rate: 0.1, importance: 1, isSignalled: false, doubt: 0 },
  ...parts,
})

describe('the importance of a record', () => {
  test.each([
    ['that can still change', false, 400, 5],
    ['that has just ended', true, 0, 1],
    ['whose end lies in the future, by a wrong clock', true, -90, 1],
    ['that ended 90 days ago', true, 90, 0.5],
    ['that ended 180 days ago', true, 180, 0.25],
    ['that ended long ago', true, 4000, 0.05],
  ])('%s', (...[, isTerminal, quietDays, expected]) =>
    expect(importanceOf({ isTerminal, quietDays })).toBeCloseTo(expected, 12),
  )
})

describe('the chance that a record has changed', () => {
  test.each([
    ['grows with its age', 2, 0, 1 - Math.exp(-0.2)],
    ['grows with the doubt of signals', 2, 0.5, 1 - Math.exp(-0.7)],
    ['is none for one that was fetched in the future', -5, 0, 0],
    ['is that of the signals alone for one fetched in the future', -5, 0.5, 1 - Math.exp(-0.5)],
  ])('%s', (...[, age, doubt, expected]) =>
    expect(chanceOfChange({ rate: 0.1, age, doubt })).toBeCloseTo(expected, 12),
  )
})

describe('the worth of a fetch', () => {
  const byFormula = (rate: number, age: number): number => 1 / rate - (age + 1 / rate) * Math.exp(-rate * age)

  test.each([
    ['in days of freshness', { rate: 2, age: 1.5 }, byFormula(2, 1.5)],
    ['times the importance', { rate: 2, age: 1.5, importance: 5 }, 5 * byFormula(2, 1.5)],
    ['with the doubt of signals as further age', { rate: 2, age: 1, doubt: 1 }, byFormula(2, 1.5)],
    ['as much as it can be after an event', { rate: 2, age: 0, importance: 5, isSignalled: true }, 2.5],
    ['without a rate, nothing', { rate: 0 }, 0],
    ['without a rate, everything after an event', { rate: 0, isSignalled: true }, Number.MAX_VALUE],
    ['with a negative rate, nothing', { rate: -1 }, 0],
  ] as const)('%s', (...[, parts, expected]) => expect(worthOf(record(parts))).toBeCloseTo(expected, 10))

  test.each([
    [1e-12, 12],
    [0.0005, 10],
    [0.000_999, 9],
    [0.001, 11],
    [0.0011, 11],
  ])('keeps its digits where almost nothing changes: x = %f, to %i places', (x, places) => {
    const series = x ** 2 / 2 - x ** 3 / 3 + x ** 4 / 8 - x ** 5 / 30 + x ** 6 / 144
    expect(worthOf(record({ rate: 1, age: x })) / series).toBeCloseTo(1, places)
  })
})

describe('a record is worth a request', () => {
  const age = (chance: number): number => -Math.log1p(-chance) / 0.1
  test.each([
    ['after an event', { age: 0, isSignalled: true }, true],
    ['at once without one', { age: 0 }, false],
    ['above a chance of 0.2%', { age: age(0.002_001) }, true],
    ['at a chance of 0.2%', { age: 0, doubt: -Math.log1p(-0.002) }, true],
    ['below a chance of 0.2%', { age: age(0.001_999) }, false],
    ['after 30 days, however rarely it changes', { age: 30, rate: 1e-9 }, true],
    ['before 30 days, if it never changes', { age: 29.99, rate: 1e-9 }, false],
  ])('%s: %s', (...[, parts, expected]) => expect(isWorthIt(record(parts))).toBe(expected))
})

describe('the choice for a budget', () => {
  const choiceOf = (records: readonly RefreshRecord[], budget: RefreshBudget): RefreshChoice => {
    const choice = new RefreshChoice(budget)
    for (const one of records) choice.add(one)
    return choice
  }
  const chosen = (records: readonly RefreshRecord[], budget: RefreshBudget): string[] =>
    choiceOf(records, budget)
      .chosen()
      .map(({ id }) => id)
  /** Records of these ages; the older, the more a fetch is worth. */
  const aged = (...ages: readonly number[]): RefreshRecord[] =>
    ages.map(age => record({ id: `age ${age}`, age }))
  const signalled = (...ids: readonly string[]): RefreshRecord[] =>
    ids.map(id => record({ id, isSignalled: true }))

  test('takes the records that are worth the most, in that order', () => {
    expect(chosen(aged(3, 9, 6, 1), { requests: 3, paced: 3 })).toEqual(['age 9', 'age 6', 'age 3'])
  })

  test('takes the smaller id of two that are worth the same', () => {
    const equal = ['b', 'a', 'c'].map(id => record({ id }))
    expect(chosen(equal, { requests: 2, paced: 2 })).toEqual(['a', 'b'])
    const old = ['y', 'x', 'z'].map(id => record({ id, age: 40, rate: 1e-9 }))
    expect(chosen(old, { requests: 5, paced: 5 })).toEqual(['x', 'y', 'z'])
  })

  test.each([
    ['best', { age: 1 }, { requests: 1, paced: 1, events: 0 }],
    ['oldest', { age: 40, rate: 1e-9 }, { requests: 5, paced: 5 }],
  ])(
    'takes the %s of two with the same id, of two resources, in the order in which they came',
    (...[, parts, budget]) => {
      const [first, second] = [record(parts), record(parts)]
      const [taken] = choiceOf([first, second], budget).chosen()
      expect(taken === first).toBe(true)
    },
  )

  test('leaves out what is not worth a request, and counts the others', () => {
    const choice = choiceOf([...aged(5, 6, 0)], { requests: 1, paced: 1 })
    expect(choice.worth).toBe(2)
    expect(choice.chosen()).toHaveLength(1)
  })

  test('keeps a fifth of the paced requests for the oldest records, whatever others are worth', () => {
    const old = [31, 33, 32].map(age => record({ id: `old ${age}`, age, rate: 1e-9 }))
    const young = aged(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    const ids = chosen([...young, ...old], { requests: 10, paced: 10 })
    expect(ids.slice(0, 2)).toEqual(['old 33', 'old 32'])
    expect(ids.slice(2)).toEqual([10, 9, 8, 7, 6, 5, 4, 3].map(age => `age ${age}`))
    expect(chosen([...young, ...old], { requests: 4, paced: 4 }).slice(0, 1)).toEqual(['age 10'])
  })

  test('counts a record as old from 30 days on, and not when it had an event', () => {
    const at = (age: number, parts: Partial<RefreshRecord> = {}) =>
      record({ id: `${age}`, age, rate: 1e-6, ...parts })
    const better = aged(1, 2, 3, 4, 5)
    expect(chosen([...better, at(30)], { requests: 5, paced: 5 })[0]).toBe('30')
    expect(chosen([...better, at(29.9, { rate: 1e-4 })], { requests: 5, paced: 5 })).not.toContain('29.9')
    const events = { isSignalled: true, importance: 1e-12 }
    expect(chosen([...better, at(30, events)], { requests: 5, paced: 5, events: 0 })).not.toContain('30')
  })

  test('spends requests for events beside those that are paced', () => {
    const records = [...signalled('s1', 's2'), ...aged(5, 6, 7)]
    expect(chosen(records, { requests: 9, paced: 1 })).toEqual(['s1', 's2', 'age 7'])
    expect(chosen(records, { requests: 9, paced: 0 })).toEqual(['s1', 's2'])
    expect(chosen(records, { requests: 2, paced: 2 })).toEqual(['s1', 's2'])
  })

  test('spends no more than the paced requests on the oldest and the best together', () => {
    const records = [record({ id: 'old', age: 40, rate: 1e-9 }), ...aged(1, 2, 3, 4, 5, 6)]
    expect(chosen(records, { requests: 9, paced: 5 })).toEqual(['old', 'age 6', 'age 5', 'age 4', 'age 3'])
  })

  test('takes a record with an event after those that are worth more', () => {
    const records = [record({ id: 'told', isSignalled: true, importance: 1e-6 }), ...aged(5, 6)]
    expect(chosen(records, { requests: 9, paced: 9 })).toEqual(['age 6', 'age 5', 'told'])
  })

  test('pays for records with an event from the paced requests where the share of events is spent', () => {
    const records = [...signalled('s1', 's2', 's3'), ...aged(5)]
    expect(chosen(records, { requests: 9, paced: 2, events: 1 })).toEqual(['s1', 's2', 's3'])
    expect(chosen(records, { requests: 9, paced: 2, events: 0 })).toEqual(['s1', 's2'])
  })

  test('says which records the share of events pays for', () => {
    const records = [...signalled('s2', 's1'), ...aged(5)]
    const paid = (budget: RefreshBudget) => [...choiceOf(records, budget).forEvents()].map(({ id }) => id)
    expect(paid({ requests: 9, paced: 9, events: 1 })).toEqual(['s1'])
    expect(paid({ requests: 9, paced: 9 })).toEqual(['s1', 's2'])
    expect(paid({ requests: 1, paced: 9, events: 9 })).toEqual(['s1'])
    expect(paid({ requests: 9, paced: 9, events: -1 })).toEqual([])
  })

  test.each([
    ['a budget below nothing', { requests: -1, paced: -1 }, 0],
    ['paced requests below nothing', { requests: 3, paced: -2 }, 0],
    ['parts of a request', { requests: 2.9, paced: 2.9 }, 2],
    ['more paced requests than there are', { requests: 1, paced: 9 }, 1],
    ['fewer paced requests than there are', { requests: 9, paced: 1 }, 1],
  ])('%s chooses %s', (...[, budget, expected]) =>
    expect(chosen(aged(5, 6, 7), budget)).toHaveLength(expected),
  )

  test('keeps twice as many as it may take, and a hundred more, before it leaves out the worst', () => {
    let compared = 0
    const one = (n: number): RefreshRecord => ({
      ...record(),
      get id() {
        compared += 1
        return `${n}`
      },
    })
    // Three paced ones, or three with an event.
    const choice = new RefreshChoice({ requests: 3, paced: 3 })
    for (let n = 0; n < 2 * (3 + 3) + 100; n += 1) choice.add(one(n))
    expect(compared).toBe(0)
    choice.add(one(200))
    expect(compared).toBeGreaterThan(0)
  })

  test('is the same for hundreds of records as for a few, in whatever order they come', () => {
    const many = Array.from({ length: 400 }, (_, n) => record({ id: `${n}`, age: 2 + ((n * 7) % 400) / 20 }))
    const best = many.toSorted((one, other) => other.age - one.age).slice(0, 3)
    expect(choiceOf(many, { requests: 3, paced: 3 }).chosen()).toEqual(best)
    expect(choiceOf([...many].reverse(), { requests: 3, paced: 3 }).chosen()).toEqual(best)
  })
})
