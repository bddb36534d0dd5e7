/** The time of the service, as far as its answers say it. */
import { expect, test } from 'vitest'
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'
import { httpDate, isApart, ServiceClock } from '../../src/lib/service-clock.ts'

const noon = Date.UTC(2026, 10, 3, 12)
const header = (at: number): string => new Date(at).toUTCString()

/** A machine whose clock is wrong by `shift`. */
function machine(shift: number) {
  const state = { true: noon, shift }
  return {
    state,
    now: () => state.true + state.shift,
    elapsed: () => state.true - noon,
    sleep: async () => undefined,
  }
}

test.each([-2 * dayMs, -2 * hourMs, -61_000, 61_000, 2 * hourMs, 2 * dayMs])(
  'a machine that is wrong by %s ms knows the time of the service after an answer, and says by how much it is wrong',
  shift => {
    const own = machine(shift)
    const clock = new ServiceClock(own)
    expect([clock.now(), clock.service(), clock.aheadMs]).toEqual([noon + shift, undefined, undefined])
    clock.observe(header(noon))
    own.state.true += 5_000
    expect([clock.now(), clock.service()]).toEqual([noon + 5_000, noon + 5_000])
    expect([clock.aheadMs, isApart(shift)]).toEqual([shift, true])
  },
)

test.each([-60_000, -1_500, 0, 1_500, 60_000])(
  'a machine that is wrong by %s ms, within a minute, keeps its own time',
  shift => {
    const clock = new ServiceClock(machine(shift))
    clock.observe(header(noon))
    expect([clock.now(), clock.service(), isApart(shift)]).toEqual([noon + shift, noon, false])
  },
)

test('setting the clock of the machine afterwards changes nothing', () => {
  const own = machine(0)
  const clock = new ServiceClock(own)
  clock.observe(header(noon))
  own.state.shift = 2 * dayMs
  own.state.true += 1_000
  expect([clock.now(), clock.service(), clock.isDoubtful]).toEqual([noon + 1_000, noon + 1_000, true])
  clock.observe(header(noon + 1_000))
  expect([clock.now(), clock.service()]).toEqual([noon + 1_000, noon + 1_000])
})

test.each([
  undefined,
  '',
  'soon',
  '-5',
  '2026-11-03T12:00:00Z',
  'Tue, 99 Nov 2026 12:00:00 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  header(noon + 367 * dayMs),
  header(noon - 367 * dayMs),
])('a Date of %j tells nothing', date => {
  const clock = new ServiceClock(machine(0))
  clock.observe(date)
  expect([clock.now(), clock.service(), clock.aheadMs, clock.isDoubtful]).toEqual([
    noon,
    undefined,
    undefined,
    true,
  ])
})

test('answers that contradict each other leave the time of the service unknown until the next run', () => {
  const clock = new ServiceClock(machine(0))
  clock.observe(header(noon))
  clock.observe(header(noon + minuteMs))
  expect(clock.service()).toBe(noon)
  clock.observe(header(noon + minuteMs + 1_000))
  expect(clock.service()).toBeUndefined()
  clock.begin()
  expect(clock.service()).toBe(noon + minuteMs + 1_000)
})

test('a date of HTTP is read to the second', () => {
  expect(httpDate('Tue, 03 Nov 2026 12:00:01 GMT')).toBe(noon + 1_000)
})
