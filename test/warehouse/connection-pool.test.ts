import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ConnectionPool } from '../../src/warehouse/duckdb/connection-pool.ts'

function poolOfTwo() {
  const switches: boolean[] = []
  let opened = 0
  const pool = new ConnectionPool<number>({
    max: 2,
    async open() {
      await wait(1)
      opened += 1
      return opened
    },
    async setBusy(_, isBusy) {
      switches.push(isBusy)
    },
  })
  return { pool, switches, opened: () => opened }
}

test('each work has a connection of its own, two at once, in the order in which the work came', async () => {
  const { pool, opened } = poolOfTwo()
  const inUse = new Set<number>()
  const begun: number[] = []
  let most = 0
  await Promise.all(
    Array.from({ length: 7 }, (_, index) =>
      pool.use(async connection => {
        expect(inUse.has(connection)).toBe(false)
        inUse.add(connection)
        begun.push(index)
        most = Math.max(most, inUse.size)
        await wait(index % 3)
        inUse.delete(connection)
      }),
    ),
  )
  expect(most).toBe(2)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(opened()).toBe(2)
  expect(await pool.drain()).toHaveLength(2)
})

test('the settings change once when the first connection is used, and once when none is any more', async () => {
  const { pool, switches } = poolOfTwo()
  await Promise.all([pool.use(() => wait(2)), pool.use(() => wait(4)), pool.use(() => wait(1))])
  expect(switches).toEqual([true, false])
  await pool.use(() => wait(1))
  expect(switches).toEqual([true, false, true, false])
})

test('work that fails leaves its connection to others', async () => {
  const { pool, opened } = poolOfTwo()
  const failures = [1, 2, 3].map(() => pool.use(() => Promise.reject(new Error('no'))))
  const settled = await Promise.allSettled(failures)
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await pool.use(async () => 'yes')).toBe('yes')
  expect(opened()).toBe(2)
})

test('a connection that cannot be opened fails its work only', async () => {
  let tries = 0
  const switches: boolean[] = []
  const pool = new ConnectionPool<number>({
    max: 1,
    async open() {
      tries += 1
      if (tries === 1) throw new Error('no room')
      return tries
    },
    async setBusy(_, isBusy) {
      switches.push(isBusy)
    },
  })
  await expect(pool.use(async () => 'first')).rejects.toThrow('no room')
  expect(await pool.use(async () => 'second')).toBe('second')
  expect(switches).toEqual([true, false])
})

test('a connection that is given back goes to the next, before its work has ended', async () => {
  const { pool, switches } = poolOfTwo()
  const done: string[] = []
  const merging = pool.use(async (_, release) => {
    release()
    await wait(20)
    done.push('merged')
  })
  await Promise.all([1, 2, 3].map(() => pool.use(async () => done.push('staged'))))
  await merging
  expect(done).toEqual(['staged', 'staged', 'staged', 'merged'])
  expect(switches.at(-1)).toBe(false)
  expect(await pool.drain()).toHaveLength(2)
})

test('work that fails says why, whatever fails after it', async () => {
  const pool = new ConnectionPool<number>({
    max: 1,
    open: async () => 1,
    async setBusy(_, isBusy) {
      if (!isBusy) throw new Error('the settings')
    },
  })
  await expect(pool.use(() => Promise.reject(new Error('the work')))).rejects.toThrow('the work')
})

test('settings that fail after the work fail it', async () => {
  const pool = new ConnectionPool<number>({
    max: 1,
    open: async () => 1,
    async setBusy(_, isBusy) {
      if (!isBusy) throw new Error('the settings')
    },
  })
  await expect(pool.use(async () => 'done')).rejects.toThrow('the settings')
})
