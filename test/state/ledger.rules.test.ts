/** Rows of one statement. */
import { expect, test } from 'vitest'
import { chunks } from '../../src/state/ledger.ts'

test.each([
  [0, []],
  [1, [1]],
  [500, [500]],
  [501, [500, 1]],
  [1000, [500, 500]],
])('%i rows go in statements of %j, in their order', (many, sizes) => {
  const rows = Array.from({ length: many }, (_, at) => at)
  const parts = [...chunks(rows)]
  expect(parts.map(part => part.length)).toEqual(sizes)
  expect(parts.flat()).toEqual(rows)
})
