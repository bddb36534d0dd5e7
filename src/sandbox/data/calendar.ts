/** Computes work weeks and the bank holidays of England and Wales, in UTC. */
import { startOfUtcDay, utcDay, weekday, weekdayFrom, yearOf } from '../../lib/dates.ts'

/** The Monday of the last week that is over at `ms`. */
export function lastFullWeek(ms: number): number {
  return startOfUtcDay(ms, -weekday(ms) - 7)
}

interface CalendarDay {
  /** Days since Monday. */
  readonly weekday: number
  readonly isBankHoliday: boolean
}

const days = new Map<number, CalendarDay>()

/** Cached: the shifts of a world ask for the same few hundred days a million times. */
export function calendarDay(midnightMs: number): CalendarDay {
  const day = days.get(midnightMs) ?? {
    weekday: weekday(midnightMs),
    isBankHoliday: bankHolidays(yearOf(midnightMs)).includes(midnightMs),
  }
  days.set(midnightMs, day)
  return day
}

const monday = 0

function bankHolidays(year: number): readonly number[] {
  const easter = easterSunday(year)
  return [
    substitute(Date.UTC(year, 0, 1)),
    startOfUtcDay(easter, -2),
    startOfUtcDay(easter, 1),
    weekdayFrom(Date.UTC(year, 4, 1), monday),
    weekdayFrom(Date.UTC(year, 4, 25), monday),
    weekdayFrom(Date.UTC(year, 7, 25), monday),
    ...christmas(year),
  ]
}

/** A holiday on a weekend moves to the Monday after. */
function substitute(midnightMs: number): number {
  return weekday(midnightMs) < 5 ? midnightMs : weekdayFrom(midnightMs, monday)
}

/** Two days off; a day on a weekend moves to the next working day. */
function christmas(year: number): number[] {
  const first = Date.UTC(year, 11, 25)
  const offsets = { 4: [0, 3], 5: [2, 3], 6: [1, 2] }[weekday(first)] ?? [0, 1]
  return offsets.map(days => startOfUtcDay(first, days))
}

/** The anonymous Gregorian computus. */
function easterSunday(year: number): number {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114
  return Date.UTC(year, Math.floor(f / 31) - 1, (f % 31) + 1)
}

/** Sites close between Christmas Eve and New Year. */
export function isShutdown(mondayMs: number): boolean {
  const sunday = utcDay(mondayMs, 6).slice('YYYY-'.length)
  return sunday >= '12-28' || sunday <= '01-03'
}
