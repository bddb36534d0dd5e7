/** When a failed request is sent again: each source of the wait, and its bounds. */
import { describe, expect, test } from 'vitest'
import {
  createRetryBudget,
  hollowAttempts,
  longestWait,
  maxAttempts,
  retryDelay,
} from '../../../src/api/client/retry.ts'

const now = Date.parse('2026-03-02T10:00:20.000Z')
const date = 'Mon, 02 Mar 2026 10:00:20 GMT'
const ask = { attempt: 1, limited: false, now, rng: () => 0.5 }

describe('a wait that the service asks for', () => {
  test.each<[string, string, string | undefined, number | undefined]>([
    ['in seconds', '7', undefined, 7_000],
    ['in seconds with a fraction', '1.25', undefined, 1_250],
    ['in seconds with space around', ' 7 ', undefined, 7_000],
    ['of no time', '0', undefined, 0],
    ['as a date after that of the answer', 'Mon, 02 Mar 2026 10:00:29 GMT', date, 9_000],
    ['as a date one second ahead', 'Mon, 02 Mar 2026 10:00:21 GMT', date, 1_000],
    ['up to a day', '86400', undefined, 86_400_000],
    ['of no more than a day', '86401', undefined, 86_400_000],
  ])('%s is kept, and up to a second more', (...[, retryAfter, answered, wait]) => {
    expect(retryDelay({ ...ask, retryAfter, date: answered })).toBe((wait ?? 0) + 500)
  })

  test.each<[string, string, string | undefined]>([
    ['as the date of the answer', 'Mon, 02 Mar 2026 10:00:20 GMT', date],
    ['as a past date', 'Mon, 02 Mar 2026 10:00:19 GMT', date],
    ['as a date where the answer has none', 'Mon, 02 Mar 2026 10:00:29 GMT', undefined],
    ['below zero', '-5', date],
    ['with a unit', '5 s', date],
    ['behind other text', 's 5', date],
    ['with an exponent', '1e3', date],
    ['with a bare point', '5.', date],
    ['in letters behind a point', '5.x', date],
    ['as other text', 'soon', date],
    ['as nothing', '', date],
  ])('%s is none', (...[, retryAfter, answered]) => {
    expect(retryDelay({ ...ask, retryAfter, date: answered })).toBe(250)
  })
})

describe('after 429 without such a wait', () => {
  test.each<[string, object, number]>([
    ['the next minute of the service is waited for', { date: 'Mon, 02 Mar 2026 09:59:50 GMT' }, 10_000],
    ['the next minute of this machine where the answer has no date', {}, 40_000],
    ['a whole minute at its begin', { now: Date.parse('2026-03-02T10:00:00.000Z') }, 60_000],
  ])('%s, and up to five seconds more', (_name, parts, wait) => {
    expect(retryDelay({ ...ask, limited: true, ...parts })).toBe(wait + 2_500)
    expect(retryDelay({ ...ask, limited: true, ...parts, rng: () => 0.9999 })).toBe(wait + 4_999)
  })
})

test.each([
  [1, 250],
  [2, 500],
  [3, 1_000],
  [6, 8_000],
  [7, 15_000],
  [40, 15_000],
])('else attempt %i waits for half of at most half a minute at random: %i ms', (attempt, wait) => {
  expect(retryDelay({ ...ask, attempt })).toBe(wait)
})

test('waits are full milliseconds', () => {
  const rng = () => 0.123456
  const delays = [{}, { limited: true }, { retryAfter: '1' }].map(parts =>
    retryDelay({ ...ask, ...parts, rng }),
  )
  expect(delays).toEqual([61, 40_617, 1_123])
})

test('a request is sent six times, an empty page three times, and a run waits for 15 minutes', () => {
  expect([maxAttempts, hollowAttempts, longestWait]).toEqual([6, 3, 900_000])
})

describe('retries of a run', () => {
  const spendable = (requests: number): number => {
    const budget = createRetryBudget()
    for (let n = 0; n < requests; n += 1) budget.sent()
    let spent = 0
    while (spent < 99 && budget.spend()) spent += 1
    expect(budget.retries).toBe(spent)
    return spent
  }

  test.each([
    [0, 10],
    [100, 10],
    [109, 10],
    [110, 11],
    [250, 25],
  ])('after %i requests are at most %i', (requests, most) => expect(spendable(requests)).toBe(most))
})
