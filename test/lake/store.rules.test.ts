/** A lake in a folder. */
import { expect, test } from 'vitest'
import { openLake } from '../../src/lake/store.ts'
import { temporaryFolder } from '../support/captured-world.ts'

test('of two writers that create one key, the first does, and its content stays', async () => {
  const store = openLake({ folder: temporaryFolder() })
  const created = [
    await store.create('log/1.json', Buffer.from('first')),
    await store.create('log/1.json', Buffer.from('second')),
  ]
  expect(created).toEqual([true, false])
  expect((await store.get('log/1.json'))?.toString()).toBe('first')
  store.close()
})
