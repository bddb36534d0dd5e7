/** The periods that the dates of the filter can be set to. */
import { expect, test } from 'vitest'
import { periodsOf } from '../../src/dashboard/periods.ts'

const sundays = ['2026-11-15', '2026-11-08', '2026-11-01', '2026-10-25', '2026-10-18']

test('settled weeks run from the Monday of the oldest to the Sunday of the newest, if there are as many', () => {
  expect(periodsOf(sundays, '2026-11-28').slice(0, -2)).toEqual([
    { name: 'Last 4 settled weeks', from: '2026-10-19', to: '2026-11-15' },
  ])
  expect(periodsOf([], '2026-11-28').map(({ name }) => name)).toEqual(['This year', 'This tax year'])
})

test.each([
  ['2026-11-28', '2026-04-06', '2027-04-05'],
  ['2026-04-06', '2026-04-06', '2027-04-05'],
  ['2026-04-05', '2025-04-06', '2026-04-05'],
])('on %s the tax year runs from %s to %s', (day, from, to) => {
  expect(periodsOf(sundays, day).at(-1)).toEqual({ name: 'This tax year', from, to })
})
