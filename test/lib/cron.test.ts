/** When a schedule is due next. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextDue } from '../../src/lib/cron.ts'

const at = (text: string): number => Date.parse(text)
const next = (schedule: string, after: string): string => new Date(nextDue(schedule, at(after))).toISOString()

test.each([
  ['30 2 * * *', '2026-11-21T02:29:59Z', '2026-11-21T02:30:00.000Z'],
  ['30 2 * * *', '2026-11-21T02:30:00Z', '2026-11-22T02:30:00.000Z'],
  ['*/15 * * * *', '2026-11-21T23:50:00Z', '2026-11-22T00:00:00.000Z'],
  ['5/20 * * * *', '2026-11-21T10:06:00Z', '2026-11-21T10:25:00.000Z'],
  ['0 9-17/4 * * 1-5', '2026-11-21T00:00:00Z', '2026-11-23T09:00:00.000Z'],
  ['0 0 1 * *', '2026-11-21T00:00:00Z', '2026-12-01T00:00:00.000Z'],
  ['0 0 29 2 *', '2026-11-21T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
  ['0 12 13 * fri', '2026-11-21T00:00:00Z', '2026-11-27T12:00:00.000Z'],
  ['0 12 * * 7', '2026-11-21T00:00:00Z', '2026-11-22T12:00:00.000Z'],
  ['0 12 * jan,JUL sun', '2026-11-21T00:00:00Z', '2027-01-03T12:00:00.000Z'],
])('%s after %s', (schedule, after, expected) => expect(next(schedule, after)).toBe(expected))

test.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  '5-1 * * * *',
  '0 0 31 2 *',
  '*/0 * * * *',
  'a b c d e',
])('%j is not a schedule', schedule => expect(() => nextDue(schedule, 0)).toThrow('is not a schedule'))

test('the next run is always later, on the minute, and the earliest of its schedule', () => {
  const field = (least: number, most: number): fc.Arbitrary<string> =>
    fc.oneof(fc.constant('*'), fc.integer({ min: least, max: most }).map(String))
  const schedules = fc.tuple(field(0, 59), field(0, 23)).map(([minute, hour]) => `${minute} ${hour} * * *`)
  fc.assert(
    fc.property(schedules, fc.integer({ min: 0, max: 4e12 }), (schedule, after) => {
      const due = nextDue(schedule, after)
      expect(due).toBeGreaterThan(after)
      expect(due % 60_000).toBe(0)
      expect(nextDue(schedule, due - 1)).toBe(due)
      expect(due - after).toBeLessThanOrEqual(86_400_000)
    }),
  )
})
