/** What a refused request says: the reason, and what changes it. */
import { expect, test } from 'vitest'
import type { Purpose } from '../../../src/api/budget/day.ts'
import { daySpent, deadlineReached, retryLaterError, runSpent } from '../../../src/api/budget/refusals.ts'

const day = {
  ...{ usedToday: 900, perDay: 1_000, remainingToday: 100, isReported: true },
  resetsAt: '2026-03-03T00:00:00.000Z',
}
const anew = 'the service starts a new count at 2026-03-03 00:00 UTC; run again then'

test.each([
  ['names what is reserved for others', day, '900 of 1,000 used, 100 reserved for others'],
  ['names no reserve where nothing is left', { ...day, remainingToday: 0 }, '900 of 1,000 used'],
  ['names a reserve of one', { ...day, remainingToday: 1 }, '900 of 1,000 used, 1 reserved for others'],
  [
    'says so where the service has reported nothing',
    { ...day, isReported: false },
    '900 of 1,000 used, 100 reserved for others, as counted here',
  ],
])('a day that is spent %s', (...[, usage, where]) => {
  const { report, exitCode } = daySpent('sync', usage)
  expect([report.where, report.next, exitCode]).toEqual([where, anew, 75])
})

test.each<[Purpose, string]>([
  ['sync', 'a sync'],
  ['reconcile', 'a sweep or a crosscheck'],
  ['webhook', 'webhook events'],
  ['operator', 'commands'],
])('a day that is spent for %s says for whom', (purpose, name) => {
  expect(daySpent(purpose, day).report.what).toBe(`the quota of the day has no request left for ${name}`)
})

test('a spent run, a deadline and a pause each end with exit 75 and a way on', () => {
  const at = Date.parse('2026-03-02T10:00:00.000Z')
  expect([runSpent(1), deadlineReached(at), retryLaterError(at)].map(({ message }) => message)).toEqual([
    'the budget of this run is used up, 1 request: run again to continue, or raise --max-requests',
    'the deadline of this run, 2026-03-02 10:00 UTC, leaves no time for another request: run again to continue, or give a later --deadline',
    'the service asks not to be called before 2026-03-02 10:00 UTC: run again then',
  ])
  expect(retryLaterError(at, 'GET /sites: 429').report.where).toBe('GET /sites: 429')
})
