import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLanes } from '../../src/warehouse/duckdb/connection-pool.ts'

function twoLanes() {
  const turns: boolean[] = []
  let opened = 0
  const lanes = createLanes<number>({
    most: 2,
    async open() {
      await wait(1)
      opened += 1
      return opened
    },
    async turn(_, isBusy) {
      turns.push(isBusy)
    },
  })
  return { lanes, turns, opened: () => opened }
}

test('work is in a lane of its own, two at once, in the order in which it came', async () => {
  const { lanes, opened } = twoLanes()
  const inside = new Set<number>()
  const begun: number[] = []
  let most = 0
  await Promise.all(
    Array.from({ length: 7 }, (_, index) =>
      lanes.enter(async () => {
        const lane = lanes.current() ?? 0
        expect(inside.has(lane)).toBe(false)
        inside.add(lane)
        begun.push(index)
        most = Math.max(most, inside.size)
        await wait(index % 3)
        expect(lanes.current()).toBe(lane)
        inside.delete(lane)
      }),
    ),
  )
  expect(most).toBe(2)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(opened()).toBe(2)
  expect(lanes.current()).toBeUndefined()
  expect(await lanes.leave()).toHaveLength(2)
})

test('the lanes are told once that somebody comes, and once that all are gone', async () => {
  const { lanes, turns } = twoLanes()
  await Promise.all([lanes.enter(() => wait(2)), lanes.enter(() => wait(4)), lanes.enter(() => wait(1))])
  expect(turns).toEqual([true, false])
  await lanes.enter(() => wait(1))
  expect(turns).toEqual([true, false, true, false])
})

test('work that fails leaves its lane to others', async () => {
  const { lanes, opened } = twoLanes()
  const failures = [1, 2, 3].map(() => lanes.enter(() => Promise.reject(new Error('no'))))
  const settled = await Promise.allSettled(failures)
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await lanes.enter(async () => 'yes')).toBe('yes')
  expect(opened()).toBe(2)
})

test('a lane that is given back goes to the next, before its work has ended', async () => {
  const { lanes, turns } = twoLanes()
  const done: string[] = []
  const merging = lanes.enter(async release => {
    release()
    await wait(20)
    done.push('merged')
  })
  await Promise.all([1, 2, 3].map(() => lanes.enter(async () => done.push('staged'))))
  await merging
  expect(done).toEqual(['staged', 'staged', 'staged', 'merged'])
  expect(turns.at(-1)).toBe(false)
  expect(await lanes.leave()).toHaveLength(2)
})
