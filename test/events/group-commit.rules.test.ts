/** Items that arrive during a write go together into the next one, and each is acknowledged by its own write. */
import { describe, expect, test } from 'vitest'
import { groupCommit } from '../../src/events/group-commit.ts'

/** Writes that end when they are told to. */
function writes() {
  const begun: { readonly items: readonly number[]; end(error?: Error): void }[] = []
  const group = groupCommit<number>(
    items =>
      new Promise((resolve, reject) => {
        begun.push({ items, end: error => (error ? reject(error) : resolve()) })
      }),
  )
  return { begun, group }
}
const turn = () => new Promise(resolve => setImmediate(resolve))
const numbers = (many: number) => Array.from({ length: many }, (_, at) => at)

describe('a group', () => {
  test('has the items of one turn, and the next those that came during its write', async () => {
    const { begun, group } = writes()
    const acknowledged: number[] = []
    const add = (item: number) => group.add(item).then(() => acknowledged.push(item))
    add(1)
    add(2)
    expect(begun).toHaveLength(0)
    await turn()
    add(3)
    add(4)
    await turn()
    expect(begun.map(({ items }) => items)).toEqual([[1, 2]])
    expect(acknowledged).toEqual([])
    begun[0]?.end()
    await turn()
    expect(acknowledged).toEqual([1, 2])
    expect(begun.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ])
    begun[1]?.end()
    await turn()
    expect(acknowledged).toEqual([1, 2, 3, 4])
  })

  test('fails completely, and the next one does not', async () => {
    const { begun, group } = writes()
    const results = [1, 2].map(item => group.add(item).catch((error: Error) => error.message))
    await turn()
    results.push(group.add(3).then(() => 'stored'))
    begun[0]?.end(new Error('full'))
    await turn()
    begun[1]?.end()
    expect(await Promise.all(results)).toEqual(['full', 'full', 'stored'])
  })

  test('begins again after nothing waited', async () => {
    const { begun, group } = writes()
    for (const item of [1, 2]) {
      const added = group.add(item)
      await turn()
      expect(begun[item - 1]?.items).toEqual([item])
      begun[item - 1]?.end()
      await added
      await group.onIdle()
    }
  })

  test.each([
    [2000, [2000]],
    [2001, [2000, 1]],
    [4001, [2000, 2000, 1]],
  ])('has at most 2,000 items: of %i, %j', async (many, sizes) => {
    const written: number[] = []
    const group = groupCommit<number>(async items => void written.push(items.length))
    await Promise.all(numbers(many).map(item => group.add(item)))
    expect(written).toEqual(sizes)
  })
})

test('at most 20,000 items wait; those being written do not count', async () => {
  const { group, begun } = writes()
  const added = numbers(20_000).map(item => group.add(item))
  await expect(group.add(-1)).rejects.toThrow('20000 events wait to be stored')
  await turn()
  added.push(group.add(20_000))
  for (let at = 0; at < 11; at += 1) {
    begun[at]?.end()
    await turn()
  }
  await Promise.all(added)
  expect(begun.flatMap(({ items }) => items)).toEqual(numbers(20_001))
})

test('a group is idle when nothing waits and nothing is being written', async () => {
  const { begun, group } = writes()
  await group.onIdle()
  const seen: string[] = []
  group.add(1).then(() => seen.push('stored'))
  group.onIdle().then(() => seen.push('idle'))
  await turn()
  group.add(2).then(() => seen.push('stored too'))
  begun[0]?.end()
  await turn()
  expect(seen).toEqual(['stored'])
  begun[1]?.end()
  await turn()
  expect(seen).toEqual(['stored', 'stored too', 'idle'])
})
