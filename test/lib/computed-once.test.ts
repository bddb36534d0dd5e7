/** One computation for all callers of an interval. */
import { expect, test } from 'vitest'
import { computedOnce } from '../../src/lib/web/computed-once.ts'

function counting(compute: (times: number) => Promise<number> = async times => times) {
  const clock = { at: 1000, now: () => clock.at }
  let times = 0
  const next = (): Promise<number> => {
    times += 1
    return compute(times)
  }
  return { answer: computedOnce(next, { everyMs: 500, clock }), clock }
}

test('computes once for all callers of an interval, and again at its end', async () => {
  const { answer, clock } = counting()
  expect(await Promise.all([answer(), answer(), answer()])).toEqual([1, 1, 1])
  clock.at += 499
  expect(await answer()).toBe(1)
  clock.at += 1
  expect(await answer()).toBe(2)
})

test('shares a computation that takes longer than the interval', async () => {
  let finish: (value: number) => void = () => undefined
  const { answer, clock } = counting(() => new Promise(resolve => (finish = resolve)))
  const first = answer()
  clock.at += 10_000
  const second = answer()
  finish(7)
  expect(await Promise.all([first, second])).toEqual([7, 7])
})

test('computes again after a failure', async () => {
  const { answer } = counting(async times => {
    if (times === 1) throw new Error('busy')
    return times
  })
  await expect(answer()).rejects.toThrow('busy')
  expect(await answer()).toBe(2)
})
