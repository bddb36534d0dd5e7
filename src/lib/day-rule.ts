/** Says how timestamps become days: in which zone, and which days are plausible. */
import { defaultZone } from './zones.ts'

/** The settings `reportingZone` and `plausibleDates`. */
export interface DayRule {
  /** IANA name of the reporting zone. */
  readonly zone: string
  /** The first and the last plausible day, YYYY-MM-DD. */
  readonly firstDay: string
  readonly lastDay: string
}

/** Between these days, seconds since 1970 are not negative, and a double distinguishes microseconds. */
export const plausibleBounds = { firstDay: '1970-01-01', lastDay: '2199-12-31' } as const

export const defaultDays: DayRule = { zone: defaultZone, firstDay: '2000-01-01', lastDay: '2049-12-31' }
