/** The requests of a day: its reserves, what the service reports, and when a new day begins. */
import { describe, expect, test } from 'vitest'
import { DayBudget, type Purpose, spendablePerDay } from '../../../src/api/budget/day.ts'

const now = Date.parse('2026-03-02T10:00:00.000Z')
const midnight = Date.parse('2026-03-03T00:00:00.000Z')
const minute = 60_000
const day = 24 * 60 * minute

const report = (usage: object = {}, perDay = 1_000) => ({ rateLimitPerDay: perDay, usage })

/** A day of 1,000 requests with so many spent for each purpose. */
function dayOf(spent: Partial<Record<Purpose, number>> = {}, perDay = 1_000): DayBudget {
  const budget = new DayBudget(now, { perDay })
  for (const [purpose, count] of Object.entries(spent))
    for (let n = 0; n < count; n += 1) budget.spend(purpose as Purpose, now)
  return budget
}

test.each([
  [1_000, 750],
  [19, 17],
  [9, 9],
])('a sync may spend of %i requests a day %i: each reserve is rounded down', (perDay, spendable) => {
  expect(spendablePerDay(perDay)).toBe(spendable)
  expect(new DayBudget(now, { perDay }).left('sync', now)).toBe(spendable)
})

describe('each purpose is left', () => {
  test.each<[string, Purpose, Partial<Record<Purpose, number>>, number]>([
    ['all but the three reserves for a sync', 'sync', {}, 750],
    ['its own reserve too for a crosscheck', 'reconcile', {}, 850],
    ['its own reserve too for a command', 'operator', {}, 800],
    ['only its reserve for an event', 'webhook', {}, 100],
    ['what events have left of their reserve', 'webhook', { webhook: 60 }, 40],
    ['the same for a sync while others use their own reserves', 'sync', { webhook: 60, reconcile: 100 }, 750],
    ['less for a sync once others use more than their reserves', 'sync', { reconcile: 101 }, 749],
    ['one for a sync before the reserves', 'sync', { sync: 749 }, 1],
    ['none for a sync at the reserves', 'sync', { sync: 750 }, 0],
    ['none for an event beyond the reserve of events', 'webhook', { webhook: 100 }, 0],
    ['what is there for an event, if it is less than the reserve', 'webhook', { reconcile: 900 }, 50],
    ['never less than none', 'sync', { reconcile: 950 }, 0],
  ])('%s', (...[, purpose, spent, left]) => {
    expect(dayOf(spent).left(purpose, now)).toBe(left)
  })

  test('all purposes count towards the day', () => {
    expect(dayOf({ sync: 1, reconcile: 2, webhook: 4, operator: 8 }).remaining(now)).toBe(985)
    expect(dayOf({ sync: 1, webhook: 4 }).forEvents).toBe(4)
  })

  test('never less than none remains, when more was sent than the limit', () => {
    expect(dayOf({ sync: 5 }, 3).remaining(now)).toBe(0)
  })
})

describe('earlier processes', () => {
  test('their requests count once the limit is known, and only once', () => {
    const budget = new DayBudget(now, { usedToday: 600 })
    expect(budget.remaining(now)).toBe(5_000)
    budget.refresh(report(), 0, now)
    expect(budget.remaining(now)).toBe(400)
    budget.refresh(report(), 0, now)
    expect(budget.remaining(now)).toBe(400)
  })

  test('their requests for events count at once', () => {
    const budget = new DayBudget(now, { eventsToday: 60, perDay: 1_000 })
    expect([budget.remaining(now), budget.left('webhook', now), budget.forEvents]).toEqual([940, 40, 60])
  })

  test('their requests do not count on the next day', () => {
    const waiting = new DayBudget(now, { usedToday: 600, eventsToday: 60 })
    expect([waiting.remaining(midnight), waiting.forEvents]).toEqual([5_000, 0])
    waiting.refresh(report(), 0, midnight)
    expect(waiting.remaining(midnight)).toBe(1_000)
    const counted = new DayBudget(now, { usedToday: 600 })
    counted.refresh(report(), 0, now)
    expect(counted.remaining(midnight)).toBe(1_000)
  })

  test('the limit is the default where none was reported', () => {
    expect(new DayBudget(now, {}).perDay).toBe(5_000)
    expect(new DayBudget(now, { perDay: 7 }).perDay).toBe(7)
  })
})

describe('an answer of /me', () => {
  test.each<[string, object, number]>([
    ['that reports less than the own count wins', { remainingToday: 300 }, 300],
    ['that reports more than the own count does not', { remainingToday: 999 }, 990],
    ['that reports the requests alone is subtracted from the limit', { requestsToday: 980 }, 20],
    ['that reports both is read by what is left', { requestsToday: 980, remainingToday: 300 }, 300],
    ['that reports nothing leaves the own count', {}, 990],
    ['that reports none left leaves none', { remainingToday: 0 }, 0],
  ])('%s', (...[, usage, remaining]) => {
    const budget = dayOf({ sync: 10 })
    budget.refresh(report(usage), 0, now)
    expect(budget.remaining(now)).toBe(remaining)
  })

  test('is lessened by what was sent since it was asked for, and by each request afterwards', () => {
    const budget = dayOf()
    budget.refresh(report({ remainingToday: 300 }), 7, now)
    budget.spend('operator', now)
    expect(budget.remaining(now)).toBe(292)
  })

  test('that reports nothing later leaves the earlier report in force', () => {
    const budget = dayOf()
    budget.refresh(report({ remainingToday: 300 }), 0, now)
    budget.refresh(report(), 0, now)
    expect(budget.remaining(now)).toBe(300)
  })

  test('that comes after midnight is about the new day', () => {
    const budget = dayOf({ sync: 500, webhook: 50 })
    budget.refresh(report(), 0, midnight)
    expect([budget.remaining(midnight), budget.forEvents]).toEqual([1_000, 0])
  })

  test('brings the limit of the day', () => {
    const budget = dayOf()
    budget.refresh(report({}, 200), 0, now)
    expect([budget.perDay, budget.left('sync', now)]).toEqual([200, 150])
  })
})

describe('the next day begins', () => {
  test.each<[string, string | undefined, number]>([
    ['at midnight UTC where the service does not say when', undefined, midnight],
    ['at midnight UTC where it says no time', 'tomorrow', midnight],
    ['when the service says', new Date(now + minute).toISOString(), now + minute],
    ['up to two days ahead', new Date(now + 2 * day).toISOString(), now + 2 * day],
    ['at midnight UTC where it says a later time', new Date(now + 2 * day + 1).toISOString(), midnight],
    ['in 15 minutes where that is now', new Date(now).toISOString(), now + 15 * minute],
    ['in 15 minutes where that is past', new Date(now - day).toISOString(), now + 15 * minute],
    ['a millisecond ahead', new Date(now + 1).toISOString(), now + 1],
  ])('%s', (...[, resetsAt, expected]) => {
    const budget = dayOf()
    budget.refresh(report({ ...(resetsAt && { resetsAt }) }), 0, now)
    expect(budget.resetsAt).toBe(expected)
  })

  test('to the millisecond, with all of its requests', () => {
    const budget = dayOf({ sync: 10, reconcile: 100, webhook: 20, operator: 10 })
    budget.refresh(report({ remainingToday: 500 }), 0, now)
    expect(budget.remaining(midnight - 1)).toBe(500)
    expect(budget.resetsAt).toBe(midnight)
    expect(budget.remaining(midnight)).toBe(1_000)
    expect([budget.resetsAt, budget.forEvents]).toEqual([midnight + day, 0])
    expect(budget.left('sync', midnight)).toBe(750)
  })

  test('with complete reserves, whatever is asked first', () => {
    expect(dayOf({ webhook: 100, reconcile: 100 }).left('sync', midnight)).toBe(750)
    const spent = dayOf({ webhook: 100 })
    spent.spend('webhook', midnight)
    expect([spent.remaining(midnight), spent.left('webhook', midnight)]).toEqual([999, 99])
  })
})
