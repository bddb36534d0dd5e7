/** How many requests a run spends on records read by id: its lists and those of later runs come first. */
import { describe, expect, test } from 'vitest'
import { recordRun } from '../../../src/state/runs/runs.ts'
import { allowance, allowanceOf, type DayBudgetState } from '../../../src/sync/by-id/allowance.ts'
import type { SyncContext } from '../../../src/sync/run/context.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const hour = 3_600_000
const day = (parts: Partial<DayBudgetState> = {}): DayBudgetState => ({
  ...{ spendable: 1500, spendableToday: 1500, spendablePerDay: 1500, untilReset: 12 * hour },
  ...{ sinceLast: 24 * hour, listRequests: 10 },
  ...parts,
})

describe('requests in all', () => {
  test.each([
    ['a nightly run keeps nothing for later runs of the day', {}, 1500],
    ['an hourly one keeps what its lists took, for each later run', { sinceLast: hour }, 1380],
    ['a part of an interval is no run', { sinceLast: 5 * hour }, 1480],
    ['a run that follows at once counts as one more', { sinceLast: 0 }, 1490],
    ['so does one that began later, by a wrong clock', { sinceLast: -1 }, 1490],
    ['the first run keeps a twentieth of a day', { sinceLast: null }, 1425],
    ['of a day that was longer, too', { sinceLast: null, spendablePerDay: 3000 }, 1350],
    ['later runs keep at most half of what is left', { sinceLast: hour, listRequests: 500 }, 750],
    ['the limit of the run counts', { spendable: 7 }, 7],
    ['what is kept comes before the limit of the run', { spendable: 1400, sinceLast: hour }, 1380],
    ['never parts of a request', { spendableToday: 10.9 }, 10],
    ['never fewer than none', { spendable: -3 }, 0],
  ])('%s', (...[, parts, expected]) => expect(allowanceOf(day(parts)).inAll).toBe(expected))
})

describe('requests for stored records', () => {
  test.each([
    ['are spread over the day by how often runs come', { sinceLast: hour }, 125],
    ['rounded up', { sinceLast: hour, spendableToday: 1501 }, 126],
    ['all of them where no run follows today', {}, 1500],
    ['all of them for the first run', { sinceLast: null }, 1425],
    ['all of them when the day has just ended', { untilReset: 0, sinceLast: hour }, 1500],
    ['all of them when the last run began just now as well', { untilReset: 0, sinceLast: 0 }, 1490],
    ['all of them after the end of the day, by a wrong clock', { untilReset: -hour, sinceLast: hour }, 1500],
    ['at most what there is in all', { spendable: 5 }, 5],
  ])('%s', (...[, parts, expected]) => expect(allowanceOf(day(parts)).refresh).toBe(expected))
})

describe('the allowance of a run', () => {
  const warehouse = rulesWarehouse()
  const clock = virtualClock('2026-03-02T12:00:00.000Z')
  const usage = {
    ...{ spendable: 1000, spendableToday: 1000, perDay: 2000, requestsThisRun: 10 },
    resetsAt: '2026-03-03T00:00:00.000Z',
  }
  const of = (purpose: 'sync' | 'webhook', parts: object = {}) =>
    allowance(
      {
        ...{ engine: warehouse.engine, clock, runId: 'this run' },
        client: { usage: () => ({ ...usage, ...parts }) },
      } as unknown as SyncContext,
      purpose,
    )
  const begin = (runId: string, startedAt: string): Promise<void> =>
    recordRun(warehouse.engine, { runId, startedAt, command: 'sync', arguments: '', version: '1' })

  test('for events has no limit of its own: their share of the day is one', async () => {
    expect(await of('webhook')).toEqual({ inAll: Infinity, refresh: Infinity })
  })

  test('of the first run keeps a twentieth of what a day may spend', async () => {
    const { inAll } = await of('sync')
    expect(inAll).toBeLessThan(1000)
    expect(inAll).toBeGreaterThanOrEqual(900)
  })

  test('counts from the start of the last sync to the reset of the day', async () => {
    await begin('earlier', '2026-03-02T10:00:00.000Z')
    expect(await of('sync')).toEqual({ inAll: 1000 - 6 * 10, refresh: Math.ceil(1000 / 6) })
  })

  test('counts no time when the last sync began at the same moment', async () => {
    await begin('beside', '2026-03-02T12:00:00.000Z')
    expect(await of('sync')).toEqual({ inAll: 990, refresh: 0 })
  })

  test('takes a last sync that began in the future for none', async () => {
    await begin('ahead', '2026-03-02T12:00:00.001Z')
    const first = await of('sync')
    await begin('ahead of all', '2026-03-02T18:00:00.000Z')
    expect(first.inAll).toBeGreaterThan(900)
    expect(await of('sync')).toEqual(first)
  })
})
