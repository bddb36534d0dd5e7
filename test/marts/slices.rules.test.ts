/** A mart that does not fit into memory is made slice by slice: together the slices are all rows, each once. */

import { describe, expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { fillTokens, isSliced, slices } from '../../src/marts/inputs.ts'
import { readMarts } from '../../src/marts/mart.ts'

const moment = { asOf: null, today: '2026-03-01', ...defaultDays, now: '2026-03-01T00:00:00.000Z' }

test('each digit that a hash can begin with is in one slice', () => {
  expect([...slices.join('')].sort()).toEqual([...'0123456789abcdef'])
})

test('a statement without a slice reads all rows', () => {
  expect(fillTokens('where :slice(t.worker_id)', moment)).toBe('where true')
})

test('a statement of a slice reads the values whose hash begins with its digits', () => {
  expect(fillTokens('where :slice(t.worker_id)', moment, 'cd')).toBe(
    "where position(left(md5(t.worker_id), 1) in 'cd') > 0",
  )
})

describe('a sliced mart', () => {
  const sliced = readMarts().filter(isSliced)

  test('is one of the two that did not fit', () => {
    expect(sliced.map(({ name }) => name).sort()).toEqual(['timesheet_cycle', 'worker_week'])
  })

  test.each(sliced)('$name reads its slice by a column of its key', ({ fields, columns, select }) => {
    const column = fields.get('Slices') ?? ''
    expect(columns.filter(({ isKey }) => isKey).map(({ name }) => name)).toContain(column)
    expect(select).toMatch(new RegExp(`:slice\\((?:\\w+\\.)?${column}\\)`))
  })
})
