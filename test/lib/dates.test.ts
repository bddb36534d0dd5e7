/** Days, weeks and months are those of UTC, whatever the zone of the machine. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dayMs,
  daysBetween,
  firstOfMonth,
  isDay,
  isoWeek,
  isWithin,
  mondayOf,
  monthOf,
  startOfUtcDay,
  utcDay,
  weekday,
  weekdayFrom,
} from '../../src/lib/dates.ts'

/** 1971 to 2096. */
const instants = fc.integer({ min: 4e10, max: 4e12 })
const shifts = fc.integer({ min: -5000, max: 5000 })

test.each([
  [0, true],
  [59_999, true],
  [60_000, false],
  [-1, false],
  [-172_800_000, false],
])('what was %s ms ago is within the last minute: %s', (ago, is) => {
  const now = Date.UTC(2026, 10, 3)
  expect(isWithin(new Date(now - ago).toISOString(), now, 60_000)).toBe(is)
})

test.each([
  ['2026-11-22T23:59:59.999999Z', 0, '2026-11-22'],
  ['2026-11-22T00:30:00+01:00', 0, '2026-11-21'],
  ['2026-03-01', -1, '2026-02-28'],
  [Date.UTC(2028, 1, 28, 12), 1, '2028-02-29'],
])('the day of %s moved by %i is %s', (instant, shift, day) => expect(utcDay(instant, shift)).toBe(day))

test('days and instants agree', () => {
  fc.assert(
    fc.property(instants, shifts, (instant, shift) => {
      const day = utcDay(instant, shift)
      expect(day).toBe(new Date(instant + shift * dayMs).toISOString().slice(0, 10))
      expect(isDay(day)).toBe(true)
      expect(daysBetween(utcDay(instant), day)).toBe(shift)
      expect(startOfUtcDay(instant, shift)).toBe(Date.parse(`${day}T00:00:00Z`))
      expect(firstOfMonth(instant)).toBe(`${utcDay(instant).slice(0, 7)}-01`)
      expect(monthOf(instant)).toBe(Number(utcDay(instant).slice(5, 7)))
    }),
  )
})

test('a week begins with the Monday that its name gives', () => {
  fc.assert(
    fc.property(instants, shifts, (instant, shift) => {
      const monday = utcDay(instant, -weekday(instant))
      expect(mondayOf(isoWeek(instant))).toBe(monday)
      expect(mondayOf(isoWeek(instant), shift)).toBe(utcDay(monday, shift))
    }),
  )
})

test.each([
  ['2026-11-02T08:00:00Z', 0, '2026-11-02'],
  ['2026-11-02T08:00:00Z', 6, '2026-11-08'],
  ['2026-11-05', 3, '2026-11-05'],
  ['2026-11-06', 3, '2026-11-12'],
])('from %s the first weekday %i is %s', (from, day, found) =>
  expect(weekdayFrom(from, day)).toBe(Date.parse(found)),
)

test.each([
  ['2027-01-01', '2026-W53'],
  ['2024-12-30', '2025-W01'],
  ['2026-11-22', '2026-W47'],
])('%s lies in %s', (day, week) => expect(isoWeek(day)).toBe(week))

test.each([
  ['2026-05-31', -3, '2026-02-01'],
  ['2026-01-31T23:00:00Z', -1, '2025-12-01'],
])('the month of %s moved by %i begins on %s', (day, shift, first) =>
  expect(firstOfMonth(day, shift)).toBe(first),
)

describe('of other texts', () => {
  test.each(['', '2026-02-30', '2026-13-01', '2026-1-1', '2026-11-22T00:00:00Z', 'yesterday'])(
    '%j is no day',
    text => expect(isDay(text)).toBe(false),
  )
  test('an invalid week has no Monday', () => expect(mondayOf('2026-11')).toBeUndefined())
})
