/** How long a run has waited: time in which several requests wait counts once. */
import { expect, test } from 'vitest'
import { Waits } from '../../../src/api/budget/waits.ts'
import { held } from '../held.ts'
import { virtualClock } from '../virtual-clock.ts'

const setUp = () => {
  const clock = virtualClock()
  return { clock, waits: new Waits(clock) }
}

test('a wait counts while it lasts and stays counted', async () => {
  const { clock, waits } = setUp()
  clock.advance(5)
  expect([waits.ms, waits.isAny]).toEqual([0, false])
  const { promise, end } = held<string>()
  const waiting = waits.during(() => promise)
  clock.advance(100)
  expect([waits.ms, waits.isAny]).toEqual([100, true])
  end('done')
  expect(await waiting).toBe('done')
  clock.advance(1_000)
  expect([waits.ms, waits.isAny]).toEqual([100, false])
})

test('two waits at a time count once, until the last has ended', async () => {
  const { clock, waits } = setUp()
  const [one, other] = [held<string>(), held<string>()]
  const first = waits.during(() => one.promise)
  clock.advance(100)
  const second = waits.during(() => other.promise)
  clock.advance(10)
  one.end('')
  await first
  expect([waits.ms, waits.isAny]).toEqual([110, true])
  clock.advance(1)
  other.end('')
  await second
  expect([waits.ms, waits.isAny]).toEqual([111, false])
})

test('two waits one by one add up', async () => {
  const { clock, waits } = setUp()
  await waits.during(() => clock.sleep(30))
  clock.advance(500)
  await waits.during(() => clock.sleep(12))
  expect(waits.ms).toBe(42)
})

test('a wait that fails counts too, and is over', async () => {
  const { clock, waits } = setUp()
  const { promise, fail } = held<string>()
  const waiting = waits.during(() => promise)
  clock.advance(7)
  fail(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
  clock.advance(7)
  expect([waits.ms, waits.isAny]).toEqual([7, false])
})

test('a clock that is set back takes no time off', async () => {
  const { clock, waits } = setUp()
  await waits.during(() => clock.sleep(30))
  const { promise } = held<string>()
  void waits.during(() => promise)
  clock.advance(-1_000)
  expect(waits.ms).toBe(30)
})
