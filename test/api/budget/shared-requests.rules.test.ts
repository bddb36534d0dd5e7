/** A slot of the minute that several processes share: waited for, used in time, or given back. */
import { describe, expect, test } from 'vitest'
import { type Slot, type SlotOptions, waitForSlot } from '../../../src/api/budget/shared-requests.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { memoryShare } from './memory-share.ts'

/** What becomes of a slot, on a clock that may ring late. */
async function wait(
  slot: Slot | undefined,
  { lateMs = 0, ...options }: { lateMs?: number } & SlotOptions = {},
) {
  const clock = virtualClock()
  const start = clock.now()
  const shared = memoryShare({ slots: [slot] })
  const moments: number[] = []
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal)
    clock.advance(lateMs)
  }
  const refuseAt = (moment: number) => void moments.push(moment - start)
  const taker = { ...options, clock: { ...clock, sleep }, purpose: 'sync' as const, refuseAt }
  const isGranted = await waitForSlot(shared, taker).catch(({ message }) => message)
  return { isGranted, moments, slept: clock.slept, calls: shared.calls }
}

describe('a slot', () => {
  test('that starts now is used without a wait', async () => {
    expect(await wait({ waitMs: 0, lateMs: 0 })).toEqual({
      ...{ isGranted: true, slept: [], moments: [0, 0] },
      calls: [['take', 'sync', undefined]],
    })
  })

  test('that starts later is waited for, and a millisecond more', async () => {
    expect(await wait({ waitMs: 500, lateMs: 1_000 }, { asksLimits: true })).toEqual({
      ...{ isGranted: true, slept: [501], moments: [500, 501] },
      calls: [['take', 'sync', true]],
    })
  })

  test.each([
    [499, true],
    [500, false],
  ])('that is %i ms late, and a millisecond, of 500 is used: %s', async (lateMs, isGranted) => {
    const found = await wait({ waitMs: 10, lateMs: 500 }, { lateMs })
    expect(found.isGranted).toBe(isGranted)
    expect(found.calls.slice(1)).toEqual(isGranted ? [] : [['giveBack', 'sync']])
  })

  test('of a spent day is refused', async () => {
    const { isGranted, calls } = await wait(undefined)
    expect([isGranted, calls]).toEqual([undefined, [['take', 'sync', undefined]]])
  })
})

describe('a slot is given back', () => {
  test('when the run was stopped while it was asked for', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    expect(await wait({ waitMs: 0, lateMs: 0 }, { signal })).toMatchObject({
      ...{ isGranted: 'stopped', moments: [] },
      calls: [
        ['take', 'sync', undefined],
        ['giveBack', 'sync'],
      ],
    })
  })

  test.each([
    ['before the wait', 1, []],
    ['after the wait', 2, [11]],
  ])('when nothing may be sent then, as seen %s', async (_name, refusedAt, slept) => {
    const clock = virtualClock()
    const shared = memoryShare({ slots: [{ waitMs: 10, lateMs: 10 }] })
    let asked = 0
    const refuseAt = () => {
      asked += 1
      if (asked === refusedAt) throw new Error('refused')
    }
    await expect(waitForSlot(shared, { clock, purpose: 'webhook', refuseAt })).rejects.toThrow('refused')
    expect([clock.slept, shared.calls.at(-1)]).toEqual([slept, ['giveBack', 'webhook']])
  })

  test('when the run is stopped while it waits', async () => {
    const clock = virtualClock()
    const stop = new AbortController()
    const shared = memoryShare({ slots: [{ waitMs: 10, lateMs: 10 }] })
    const refuseAt = () => stop.abort(new Error('stopped'))
    const taker = { clock, purpose: 'sync' as const, refuseAt, signal: stop.signal }
    await expect(waitForSlot(shared, taker)).rejects.toThrow('stopped')
    expect(shared.calls.at(-1)).toEqual(['giveBack', 'sync'])
  })
})

test('the start of a slot counts from the time of its request', async () => {
  const clock = virtualClock()
  const start = clock.now()
  const shared = memoryShare({ slots: [{ waitMs: 500, lateMs: 100 }] })
  const take: typeof shared.take = async (...parts) => {
    clock.advance(40)
    return shared.take(...parts)
  }
  const moments: number[] = []
  const refuseAt = (moment: number) => void moments.push(moment - start)
  expect(await waitForSlot({ ...shared, take }, { clock, purpose: 'sync', refuseAt })).toBe(true)
  expect(moments).toEqual([500, 541])
})
