/** What reads for events may take of a day. */
import { expect, test } from 'vitest'
import { eventsPerDay, readLimit } from '../../../src/api/budget/day.ts'

test.each([
  [4000, 400],
  [1_000_000, 100_000],
  [19, 1],
  [9, 0],
])('of %i requests a day events may take %i', (perDay, share) => {
  expect(eventsPerDay(perDay)).toBe(share)
})

test.each([
  ['half of what is left', 400, 0, 200],
  ['half of half after a read that found little', 400, 1, 100],
  ['an eighth after two', 400, 2, 50],
  ['no fewer than ten', 400, 30, 10],
  ['ten of nineteen', 19, 0, 10],
  ['all of the last ten', 10, 0, 10],
  ['the last one', 1, 5, 1],
  ['none where none is left', 0, 0, 0],
  ['none where more was sent than the share', -3, 0, 0],
])('a read may send %s', (...[, left, emptyReads, limit]) => {
  expect(readLimit(left, emptyReads)).toBe(limit)
})
