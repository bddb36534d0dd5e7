/** The rolling minute: when the next request may start, on a clock whose waits take no time. */
import { describe, expect, test } from 'vitest'
import { createMinuteWindow, type RequestRelease } from '../../../src/api/budget/minute.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { held, settled } from '../delayed-answers.ts'

/** A minute, and 30 ms for a clock that runs fast. */
const window = 60_030

const setUp = (options: { cap: number; recent?: number; window?: number }) => {
  const clock = virtualClock()
  const start = clock.now()
  return { clock, minute: createMinuteWindow({ clock, ...options }), at: () => clock.now() - start }
}

/** Sends a request that is answered at once. */
const sendOne = async (minute: { take(): Promise<RequestRelease> }): Promise<void> => (await minute.take())()

describe('a request starts', () => {
  test('at once while fewer than the cap count, else a window after the answer that must leave', async () => {
    const { clock, minute, at } = setUp({ cap: 2 })
    await sendOne(minute)
    clock.advance(10_000)
    await sendOne(minute)
    expect(at()).toBe(10_000)
    await sendOne(minute)
    expect(at()).toBe(window)
    await sendOne(minute)
    expect(at()).toBe(10_000 + window)
  })

  test.each([
    [window - 1, [1]],
    [window, []],
    [window + 1, []],
  ])('%i ms after an answer with a wait of %j', async (passed, waits) => {
    const { clock, minute } = setUp({ cap: 1 })
    await sendOne(minute)
    clock.advance(passed)
    await minute.take()
    expect(clock.slept).toEqual(waits)
  })

  test('only after an answer, where all that count are under way', async () => {
    const { clock, minute, at } = setUp({ cap: 1 })
    const ended = await minute.take()
    const taken = minute.take().then(at)
    await settled()
    clock.advance(5_000)
    ended()
    expect(await taken).toBe(5_000 + window)
  })

  test('at once when requests under way and answered ones are fewer than the cap', async () => {
    const { clock, minute } = setUp({ cap: 3 })
    await minute.take()
    await sendOne(minute)
    await minute.take()
    expect(clock.slept).toEqual([])
    await minute.take()
    expect(clock.slept).toEqual([window])
  })

  test('later than the requests of an earlier process, which count as answered now', async () => {
    const { minute, at } = setUp({ cap: 3, recent: 2 })
    await sendOne(minute)
    expect(at()).toBe(0)
    await sendOne(minute)
    expect(at()).toBe(window)
  })

  test('within a window of the length that was asked for, rounded up', async () => {
    const { clock, minute } = setUp({ cap: 1, recent: 1, window: 400 })
    await minute.take()
    expect(clock.slept).toEqual([401])
  })

  test('in the order in which they came', async () => {
    const { minute } = setUp({ cap: 1, recent: 1 })
    const order: number[] = []
    const take = async (n: number) => {
      await sendOne(minute)
      order.push(n)
    }
    await Promise.all([take(1), take(2), take(3)])
    expect(order).toEqual([1, 2, 3])
  })

  test('sleeping a window at a time at most, after the clock was set back', async () => {
    const { clock, minute } = setUp({ cap: 1, recent: 1 })
    clock.advance(-3_600_000)
    await minute.take()
    expect(Math.max(...clock.slept)).toBe(window)
  })

  test('by durations, whatever the clock is set to', async () => {
    const virtual = virtualClock()
    let elapsed = 1_000
    const sleep: typeof virtual.sleep = async ms => {
      virtual.slept.push(ms)
      elapsed += ms
    }
    const minute = createMinuteWindow({
      clock: { ...virtual, sleep, elapsed: () => elapsed },
      cap: 1,
      recent: 1,
    })
    virtual.advance(7 * 60_000)
    await minute.take()
    expect(virtual.slept).toEqual([window])
  })
})

describe('the cap', () => {
  test('lowered keeps all charged that were sent', async () => {
    const { clock, minute, at } = setUp({ cap: 3 })
    for (let n = 0; n < 3; n += 1) {
      await sendOne(minute)
      clock.advance(1_000)
    }
    minute.resize(1)
    await minute.take()
    expect(at()).toBe(2_000 + window)
  })

  test('raised lets the next one start at once', async () => {
    const { clock, minute } = setUp({ cap: 1, recent: 1 })
    minute.resize(2)
    await minute.take()
    expect(clock.slept).toEqual([])
  })
})

describe('who waits', () => {
  test('gives up when aborted, and the next one gets its turn', async () => {
    const { clock, minute, at } = setUp({ cap: 1 })
    const ended = await minute.take()
    const stop = new AbortController()
    const given = minute.take(stop.signal)
    const next = minute.take().then(at)
    await settled()
    stop.abort(new Error('stopped'))
    await expect(given).rejects.toThrow()
    clock.advance(1_000)
    ended()
    expect(await next).toBe(1_000 + window)
  })

  test('gives up while it sleeps', async () => {
    const { clock } = setUp({ cap: 1 })
    const asleep = held()
    const signals: unknown[] = []
    const sleep = (_ms: number, signal?: AbortSignal) => {
      signals.push(signal)
      return asleep.promise
    }
    const minute = createMinuteWindow({ clock: { ...clock, sleep }, cap: 1, recent: 1 })
    const { signal } = new AbortController()
    const given = minute.take(signal)
    asleep.fail(new Error('stopped'))
    await expect(given).rejects.toThrow('stopped')
    expect(signals).toEqual([signal])
  })

  test('takes no place when it was aborted before', async () => {
    const { clock, minute } = setUp({ cap: 1 })
    await expect(minute.take(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
    await minute.take()
    expect(clock.slept).toEqual([])
  })
})
