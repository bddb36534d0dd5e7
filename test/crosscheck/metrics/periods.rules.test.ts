/** Where a moment counts: its day, month and week in a zone, and whether it lies in a range of days. */
import { describe, expect, test } from 'vitest'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import {
  firstOfWeek,
  isInRange,
  limitsOf,
  localDay,
  localTime,
  periodKeys,
} from '../../../src/crosscheck/metrics/periods.ts'

const definition = (parts: Partial<MetricDefinition>): MetricDefinition => ({
  ...definitionDefaults,
  ...parts,
})

test.each([
  ['UTC', '2026-06-30T23:59:59.999Z', '2026-06-30'],
  ['UTC', '2026-07-01T00:00:00.000Z', '2026-07-01'],
  // In summer London is an hour ahead, in winter it is not.
  ['Europe/London', '2026-06-30T22:59:59.999Z', '2026-06-30'],
  ['Europe/London', '2026-06-30T23:00:00.000Z', '2026-07-01'],
  ['Europe/London', '2026-01-31T23:59:59.999Z', '2026-01-31'],
  // New York is four hours behind in summer.
  ['America/New_York', '2026-07-01T03:59:59.999Z', '2026-06-30'],
  ['America/New_York', '2026-07-01T04:00:00.000Z', '2026-07-01'],
  ['+05:30', '2026-07-01T18:29:59.999Z', '2026-07-01'],
  ['+05:30', '2026-07-01T18:30:00.000Z', '2026-07-02'],
  ['-03:30', '2026-07-01T03:29:59.999Z', '2026-06-30'],
])('in %s %s is on %s', (zone, at, day) => {
  expect(localDay(Date.parse(at), zone)).toBe(day)
})

test('clocks go forward in London at one in the morning of 29 March 2026, and back on 25 October', () => {
  const shown = (at: string) => new Date(localTime(Date.parse(at), 'Europe/London')).toISOString()
  expect(shown('2026-03-29T00:59:00.000Z')).toBe('2026-03-29T00:59:00.000Z')
  expect(shown('2026-03-29T01:00:00.000Z')).toBe('2026-03-29T02:00:00.000Z')
  expect(shown('2026-10-25T00:59:00.000Z')).toBe('2026-10-25T01:59:00.000Z')
  expect(shown('2026-10-25T01:00:00.000Z')).toBe('2026-10-25T01:00:00.000Z')
})

// 11 May 2026 is a Monday.
test.each([
  ['2026-05-10', '2026-05-04', '2026-05-10', '2026-05-09'],
  ['2026-05-11', '2026-05-11', '2026-05-10', '2026-05-09'],
  ['2026-05-15', '2026-05-11', '2026-05-10', '2026-05-09'],
  ['2026-05-16', '2026-05-11', '2026-05-10', '2026-05-16'],
  ['2026-05-17', '2026-05-11', '2026-05-17', '2026-05-16'],
])('the week of %s begins on %s, from Sunday on %s, from Saturday on %s', (...[day, monday, sunday, sat]) => {
  expect(firstOfWeek(day, 'monday')).toBe(monday)
  expect(firstOfWeek(day, 'sunday')).toBe(sunday)
  expect(firstOfWeek(day, 'saturday')).toBe(sat)
})

test('the month and the week of a time are those of its day in the zone', () => {
  const at = Date.parse('2026-05-31T23:30:00.000Z')
  expect(periodKeys(at, definition({}))).toEqual({ month: '2026-05', week: '2026-05-25' })
  expect(periodKeys(at, definition({ zone: 'Europe/London', weekStart: 'sunday' }))).toEqual({
    month: '2026-06',
    week: '2026-05-31',
  })
})

describe('a range of days', () => {
  const range = { from: '2026-05-02', to: '2026-05-05' }
  const place = { company: 'c', project: 'p', agency: 'a' }
  const isIn = (at: string, parts: Partial<MetricDefinition> = {}) =>
    isInRange({ keys: place, timeMs: Date.parse(at) }, range, definition(parts))

  test.each([
    ['2026-05-01T23:59:59.999Z', {}, false],
    ['2026-05-02T00:00:00.000Z', {}, true],
    ['2026-05-02T23:59:59.999Z', { from: 'exclusive' }, false],
    ['2026-05-03T00:00:00.000Z', { from: 'exclusive' }, true],
    ['2026-05-05T23:59:59.999Z', {}, true],
    ['2026-05-06T00:00:00.000Z', {}, false],
    ['2026-05-05T00:00:00.000Z', { to: 'midnight' }, true],
    ['2026-05-05T00:00:00.001Z', { to: 'midnight' }, false],
    ['2026-05-04T23:59:59.999Z', { to: 'exclusive' }, true],
    ['2026-05-05T00:00:00.000Z', { to: 'exclusive' }, false],
    ['2026-05-01T22:59:59.999Z', { zone: 'Europe/London' }, false],
    ['2026-05-01T23:00:00.000Z', { zone: 'Europe/London' }, true],
  ] as const)('from 2 to 5 May: %s under %o: %s', (at, parts, is) => {
    expect(isIn(at, parts)).toBe(is)
  })

  test('has no limit where none is given', () => {
    expect(limitsOf({}, definition({}))).toEqual({ first: undefined, beyond: undefined })
    const at = (timeMs: number) => isInRange({ keys: place, timeMs }, {}, definition({}))
    expect([at(0), at(Date.parse('2090-01-01'))]).toEqual([true, true])
  })

  test.each(['company', 'project', 'agency'] as const)('of one %s has only its records', key => {
    const at = { keys: place, timeMs: 0 }
    expect(isInRange(at, { [key]: place[key] }, definition({}))).toBe(true)
    expect(isInRange(at, { [key]: 'other' }, definition({}))).toBe(false)
  })
})
