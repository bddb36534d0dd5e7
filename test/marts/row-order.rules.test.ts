/** In which order the rows of a mart are written. */
import { expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { orderOfRows } from '../../src/marts/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

const orderOn = (keepsKeys: boolean, name: string): string => {
  const mart = readMarts().find(one => one.name === name)
  if (!mart) throw new Error(`there is no mart.${name}`)
  return orderOfRows({ keepsKeys } as Engine, mart)
}

test.each([
  ['labour_spend_weekly', ' order by "company_id", "week_ending_date"'],
  ['worker_week', ' order by "week_ending_date"'],
  ['approval_cycle', ' order by "company_id"'],
  ['dim_agency', ''],
])('a server gets the rows of %s by company, then by date', (name, order) => {
  expect(orderOn(true, name)).toBe(order)
})

test('a file gets its rows as they come', () => {
  expect(orderOn(false, 'labour_spend_weekly')).toBe('')
})
