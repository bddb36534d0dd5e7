/** What is left of a pause, by the time at which the service asked for it. */
import { expect, test } from 'vitest'
import { pauseLeft } from '../../src/state/requests/key-state.ts'

const saidAt = Date.UTC(2026, 10, 3, 12)

test.each([
  [0, 2_000],
  [1, 1_999],
  [2_000, 0],
  [2_001, 0],
  [172_800_000, 0],
  [-1, 0],
  [-172_800_000, 0],
])('%s ms after a pause of 2 s was said, %s ms of it are left', (ago, left) => {
  expect(pauseLeft({ saidAt, ms: 2_000 }, saidAt + ago)).toBe(left)
})
