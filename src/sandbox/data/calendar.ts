/** Weeks, days and the bank holidays of England and Wales, all in UTC. */

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const WEEK_MS = 7 * DAY_MS

/** 0 is Monday, 6 is Sunday. */
export function weekday(dayMs: number): number {
  return (Math.floor(dayMs / DAY_MS) + 3) % 7
}

function midnight(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS
}

/** The Monday of the last week that is over at `ms`. */
export function lastFullWeek(ms: number): number {
  const day = midnight(ms)
  return day - weekday(day) * DAY_MS - WEEK_MS
}

const holidaysByYear = new Map<number, ReadonlySet<number>>()

export function isBankHoliday(dayMs: number): boolean {
  const year = new Date(dayMs).getUTCFullYear()
  const known = holidaysByYear.get(year) ?? bankHolidays(year)
  holidaysByYear.set(year, known)
  return known.has(dayMs)
}

function bankHolidays(year: number): ReadonlySet<number> {
  const easter = easterSunday(year)
  const firstOfMay = Date.UTC(year, 4, 1)
  return new Set([
    substitute(Date.UTC(year, 0, 1)),
    easter - 2 * DAY_MS,
    easter + DAY_MS,
    firstOfMay + ((7 - weekday(firstOfMay)) % 7) * DAY_MS,
    lastMonday(Date.UTC(year, 4, 31)),
    lastMonday(Date.UTC(year, 7, 31)),
    ...christmas(year),
  ])
}

function lastMonday(lastDay: number): number {
  return lastDay - weekday(lastDay) * DAY_MS
}

/** A holiday on a weekend is kept on the Monday after. */
function substitute(dayMs: number): number {
  const day = weekday(dayMs)
  return day < 5 ? dayMs : dayMs + (7 - day) * DAY_MS
}

/** Two days off in a row; whatever falls on a weekend is kept on the first working days after. */
function christmas(year: number): number[] {
  const first = Date.UTC(year, 11, 25)
  const offsets = { 4: [0, 3], 5: [2, 3], 6: [1, 2] }[weekday(first)] ?? [0, 1]
  return offsets.map(days => first + days * DAY_MS)
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
  const sunday = new Date(mondayMs + 6 * DAY_MS)
  const month = sunday.getUTCMonth()
  return (month === 11 && sunday.getUTCDate() >= 28) || (month === 0 && sunday.getUTCDate() <= 3)
}
