/** Time zones: which texts are some, and what their clocks show. */
import { expect, test } from 'vitest'
import { isNamedZone, isZone, offsetName, shiftOf } from '../../src/lib/zones.ts'

const minutes = (zone: string, at = '2026-01-01T00:00:00.000Z') => shiftOf(zone)(Date.parse(at)) / 60_000

test.each([
  ['UTC', 0],
  ['+00:00', 0],
  ['+05:30', 330],
  ['-03:30', -210],
  ['+00:01', 1],
  ['-00:01', -1],
  ['-00:59', -59],
  ['-01:00', -60],
  ['Asia/Kolkata', 330],
  ['America/New_York', -300],
])('%s is %i minutes from UTC', (zone, expected) => {
  expect(minutes(zone)).toBe(expected)
})

test('clocks change when the zone changes them', () => {
  expect(minutes('Europe/London', '2026-03-29T00:59:59.999Z')).toBe(0)
  expect(minutes('Europe/London', '2026-03-29T01:00:00.000Z')).toBe(60)
})

test.each([
  ['Europe/London', true, true],
  ['europe/london', true, false],
  ['Europe/Nowhere', false, false],
  ['+14:00', true, false],
  ['+14:01', false, false],
  ['-14:00', true, false],
  ['-14:01', false, false],
  ['+05:60', false, false],
  ['+5:30', false, false],
  ['x+05:30', false, false],
  ['+05:30x', false, false],
])('"%s" is a zone: %s, and has a name: %s', (text, is, isNamed) => {
  expect([isZone(text), isNamedZone(text)]).toEqual([is, isNamed])
})

test.each([
  [0, '+00:00'],
  [-1, '-00:01'],
  [330, '+05:30'],
  [-720, '-12:00'],
])('an offset of %i minutes is named %s', (count, name) => {
  expect(offsetName(count)).toBe(name)
})
