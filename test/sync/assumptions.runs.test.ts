/** What scans assume of the service: where it does not hold, a record can be lost in the ways that docs/paging.md tells. */
import { expect, test } from 'vitest'
import { dayMs } from '../../src/lib/dates.ts'
import type { Breaks } from './changing-list.ts'
import { type History, historyOf, lost, missed, missingAfterwards, run } from './modelled-histories.ts'

const most = 1_500

/** The first of the histories in which something is lost. */
async function firstOf(loses: (history: History) => Promise<boolean>): Promise<number | undefined> {
  for (let seed = 1; seed <= most; seed += 1) if (await loses(historyOf(seed))) return seed
  return undefined
}

/** Busy enough that what is assumed is often needed. */
const busy = { change: 0.5, insert: 0.4, remove: 0.3, late: 0.2, bulk: 0.2, shuffle: 1, tie: 0.9 }
const weatherOf = ({ weather }: History, breaks: Breaks = {}) => ({ ...weather, ...busy, breaks })

const losesWhere =
  (breaks: Breaks, more: Partial<History> = {}) =>
  async (history: History): Promise<boolean> =>
    lost(await run({ ...history, weather: weatherOf(history, breaks), ...more })).length > 0

test('no record is lost where all of it holds', async () => {
  expect(await firstOf(losesWhere({}))).toBeUndefined()
})

test.each<[string, Breaks]>([
  ['an answer shows two states of the list', { torn: 0.5 }],
  ['records become visible later than the lookback after their times', { lags: 4 }],
  ['the id of a deleted record comes back', { reborn: true }],
])('a record can be lost where %s', async (_, breaks) => {
  expect(await firstOf(losesWhere(breaks))).toBeDefined()
})

test('a record can be lost where a scan of changes is shown the rows of another page', async () => {
  const loses = async ({ seed, weather }: History): Promise<boolean> => {
    const calm = { ...weather, rows: 12, pageSize: 2, tie: 0, breaks: { shifted: 0.3 } }
    return lost(await run({ seed, kind: 'loaded', part: 'changes', weather: calm })).length > 0
  }
  expect(await firstOf(loses)).toBeDefined()
})

test('a change can be lost where it leaves the time of change as it was', async () => {
  const losesChange = async (history: History): Promise<boolean> => {
    const weather = { ...history.weather, breaks: { unmarked: 0.5 } }
    return (await missingAfterwards(history.seed, {}, { ...history, weather })).length > 0
  }
  expect(await firstOf(losesChange)).toBeDefined()
})

test('a record can be lost where our clock is more than a day ahead, and none where it errs by less', async () => {
  const hours = (count: number) => losesWhere({}, { clockAhead: (count * dayMs) / 24 })
  expect(await firstOf(hours(23))).toBeUndefined()
  expect(await firstOf(hours(-23))).toBeUndefined()
  expect(await firstOf(hours(48))).toBeDefined()
})

test('a total that is too low and does not show it hides records', async () => {
  const isHidden = async ({ seed }: History): Promise<boolean> => {
    const ran = await run(historyOf(seed, { hasLies: true }))
    return !ran.list.showsItsEnd && missed(ran).length > 0
  }
  expect(await firstOf(isHidden)).toBeDefined()
})

test('rows that no page shows are counted as hidden, and no others', async () => {
  let told = 0
  for (let seed = 1; seed <= most; seed += 1) {
    const history = historyOf(seed)
    const weather = { ...history.weather, change: 0, hides: 3 }
    const ran = await run({ ...history, kind: 'loaded', part: 'none', weather })
    if (ran.decision !== 'accepted') continue
    expect({ seed, hidden: ran.hidden }).toEqual({ seed, hidden: ran.list.hidden.size })
    told += ran.hidden
  }
  expect(told).toBeGreaterThan(0)
})
