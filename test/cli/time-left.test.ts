/** The time left of a run, from the requests that are left. */
import { expect, test } from 'vitest'
import {
  atStart,
  type BudgetEvent,
  type ProgressEvent,
  timeLeft,
  withEvent,
} from '../../src/cli/terminal/render-progress.ts'

function leftOf(events: readonly ProgressEvent[], budget: BudgetEvent, elapsedMs: number) {
  return timeLeft({ ...events.reduce(withEvent, atStart(0)), budget }, elapsedMs)
}

const scanning = (
  pagesDone: number,
  pagesTotal: number,
  parts: Partial<ProgressEvent> = {},
): ProgressEvent => ({
  ...{ resource: 'timesheets', state: 'scanning', pagesDone, pagesTotal },
  ...parts,
})

test.each([
  ['at its own pace where there is no limit', { remainingToday: 900, spentThisRun: 10 }, 45_000],
  [
    'at its own pace where the limit holds all of the run',
    { remainingToday: 900, spentThisRun: 10, perMinute: 100 },
    45_000,
  ],
  [
    'at the pace of a limit that the run exceeds',
    { remainingToday: 900, spentThisRun: 10, perMinute: 40 },
    135_000,
  ],
  [
    'at its own pace where that is slower than the limit',
    { remainingToday: 900, spentThisRun: 2, perMinute: 40 },
    225_000,
  ],
])('90 pages that are left take so long %s', (_, budget, ms) => {
  expect(leftOf([scanning(10, 100)], budget, 5_000)).toEqual({ ms, isLeast: false })
})

test('a resource that ended, and one that was skipped, have nothing left', () => {
  const events = [
    scanning(10, 10, { resource: 'users', state: 'done' }),
    scanning(0, 50, { resource: 'sites', state: 'skipped' }),
    scanning(10, 20),
  ]
  expect(leftOf(events, { remainingToday: 900, spentThisRun: 20 }, 20_000)?.ms).toBe(10_000)
})

test('records that may name others give the least time', () => {
  const budget = { remainingToday: 900, spentThisRun: 10 }
  expect(leftOf([scanning(10, 20, { pagesMost: 30 })], budget, 10_000)).toEqual({ ms: 10_000, isLeast: true })
  expect(leftOf([scanning(10, 20, { pagesMost: 20 })], budget, 10_000)?.isLeast).toBe(false)
})

test.each([
  [2_999, undefined],
  [3_000, 3_000],
])('after %i ms it is %s', (elapsedMs, ms) => {
  expect(leftOf([scanning(10, 20)], { remainingToday: 900, spentThisRun: 10 }, elapsedMs)?.ms).toBe(ms)
})
