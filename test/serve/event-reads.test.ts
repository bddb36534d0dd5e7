/** When a read for events has mostly missed its records. */
import { expect, test } from 'vitest'
import { isMostlyMissing } from '../../src/serve/event-reads.ts'

test.each([
  [9, 0, false],
  [10, 4, true],
  [10, 5, false],
  [200, 99, true],
  [200, 100, false],
  [0, 0, false],
])('a read of %i records that found %i has mostly missed them: %s', (asked, found, expected) => {
  expect(isMostlyMissing({ asked, found })).toBe(expected)
})
