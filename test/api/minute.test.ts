/** The rolling minute, shortened to 400 ms, on the real clock. */
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../src/api/budget/budget.ts'
import { createMinuteWindow } from '../../src/api/budget/minute.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { answerMe, json, listPage, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

describe.concurrent('the minute', () => {
  const WINDOW = 400

  /** The most moments in any half-open window. */
  function densest(moments: readonly number[], window = WINDOW): number {
    return Math.max(...moments.map(start => moments.filter(at => at >= start && at < start + window).length))
  }

  async function starts(count: number, options: { cap: number; recent?: number }): Promise<number[]> {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, ...options })
    const begun = performance.now()
    const take = async () => {
      const ended = await limiter.take()
      ended()
      return performance.now() - begun
    }
    return Promise.all(Array.from({ length: count }, take))
  }

  it('holds in every rolling window, not only from one window to the next', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 20 })
    const moments: number[] = []
    const worker = async () => {
      for (let index = 0; index < 8; index++) {
        await systemClock.sleep(Math.random() * 30)
        const ended = await limiter.take()
        moments.push(performance.now())
        ended()
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    expect(moments).toHaveLength(64)
    expect(densest(moments)).toBeLessThanOrEqual(20)
  })

  it('holds at the service however long requests and answers are on their way', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 20 })
    const arrived: number[] = []
    const worker = async () => {
      for (let index = 0; index < 8; index++) {
        const ended = await limiter.take()
        await systemClock.sleep(Math.random() * 100)
        arrived.push(Date.now())
        await systemClock.sleep(Math.random() * 30)
        ended()
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    expect(arrived).toHaveLength(64)
    expect(densest(arrived)).toBeLessThanOrEqual(20)
  })

  it('keeps a request charged that has no answer yet', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 1 })
    const ended = await limiter.take()
    const begun = performance.now()
    setTimeout(ended, 2 * WINDOW)
    await limiter.take()
    expect(performance.now() - begun).toBeGreaterThanOrEqual(3 * WINDOW - 5)
  })

  it('gives up waiting for an answer when aborted', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 1 })
    await limiter.take()
    await expect(limiter.take(AbortSignal.timeout(20))).rejects.toThrow()
  })

  it('charges the requests of an earlier process as if made now', async () => {
    const [moments, full] = await Promise.all([
      starts(4, { cap: 3, recent: 2 }),
      starts(1, { cap: 3, recent: 99 }),
    ])
    expect(moments.filter(at => at < WINDOW)).toHaveLength(1)
    expect(full[0]).toBeGreaterThanOrEqual(WINDOW)
    expect(full[0]).toBeLessThan(WINDOW * 3)
  })

  it('keeps what was spent when the rate changes, also for those who wait already', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 4 })
    const begun = performance.now()
    const moments: number[] = []
    const take = async () => {
      const ended = await limiter.take()
      ended()
      moments.push(performance.now() - begun)
    }
    const waiting = Array.from({ length: 6 }, take)
    await systemClock.sleep(50)
    limiter.resize(6)
    await Promise.all([...waiting, take(), take(), take()])
    expect(densest(moments)).toBeLessThanOrEqual(6)
    expect(moments).toHaveLength(9)
  })

  it('does not forget requests of an earlier process that the first cap had no room for', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 2, recent: 5 })
    limiter.resize(6)
    const begun = performance.now()
    const ended = await limiter.take()
    ended()
    await limiter.take()
    expect(performance.now() - begun).toBeGreaterThanOrEqual(WINDOW)
  })

  it('gives up waiting when aborted', async () => {
    const limiter = createMinuteWindow({ clock: systemClock, window: 60_000, cap: 1, recent: 1 })
    await expect(limiter.take(AbortSignal.timeout(20))).rejects.toThrow()
  })

  it('holds at the server too, where requests arrive later than they start', async () => {
    const minute = createMinuteWindow({ clock: systemClock, window: WINDOW, cap: 20 })
    const arrived = await withClient(
      (asked, response) => json(response, 200, listPage(asked, 1)),
      async (client, service) => {
        await Promise.all(Array.from({ length: 50 }, () => client.getPage('/sites')))
        return service.asked.map(({ at }) => at)
      },
      { budget: createBudget({ clock: systemClock, minute }), me: answerMe({ rateLimitPerMinute: 20 }) },
    )
    expect(arrived).toHaveLength(50)
    expect(densest(arrived)).toBeLessThanOrEqual(20)
  })
})

describe('a pause', () => {
  it('that is told while others queue for the minute holds them too', async () => {
    const clock = virtualClock()
    let release: (() => void) | undefined
    let waited = 0
    const slow = {
      take: () => {
        waited += 1
        const ended = (): void => undefined
        return waited > 1
          ? Promise.resolve(ended)
          : new Promise<typeof ended>(done => (release = () => done(ended)))
      },
      resize: () => {},
    }
    const budget = createBudget({ clock, minute: slow })
    const taken = budget.take('sync').then(() => clock.now())
    await systemClock.sleep(1)
    const until = clock.now() + 30_000
    budget.pause(30_000)
    release?.()
    expect(await taken).toBe(until)
    expect(waited).toBe(2)
  })
})
