/** Which alterations a sample has. */
import { expect, test } from 'vitest'
import { sampleOf } from './sample.ts'

const all = Array.from({ length: 20 }, (_, place) => place)

test('every seventh, from the first on or from another, and no other way of saying it', () => {
  expect(sampleOf(all, '1')).toEqual(all)
  expect(sampleOf(all, '7')).toEqual([0, 7, 14])
  expect(sampleOf(all, '7+3')).toEqual([3, 10, 17])
  for (const every of ['0', 'seven', '7-3', '7+', ''])
    expect(() => sampleOf(all, every)).toThrow(`MUSTER_SQL_EVERY is ${every}; write 7 or 7+3, say`)
})
