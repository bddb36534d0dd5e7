/** Computes with time zones: an IANA name, or an offset such as +05:30. */
import { tzOffset } from '@date-fns/tz/tzOffset'
import { minuteMs } from './dates.ts'

const offset = /^([+-])(\d{2}):([0-5]\d)$/
const widestMinutes = 14 * 60
/** Caches offsets per quarter of an hour, as they change only on one; computing one costs a microsecond or two. */
const quarterMs = 15 * minuteMs

/** Minutes of an offset; undefined for a name. `tzOffset` loses the sign of -00:30. */
function offsetMinutes(zone: string): number | undefined {
  const [, sign, hours, minutes] = offset.exec(zone) ?? []
  return sign === undefined ? undefined : Number(`${sign}1`) * (60 * Number(hours) + Number(minutes))
}

export function isZone(text: string): boolean {
  const minutes = offsetMinutes(text)
  if (minutes !== undefined) return Math.abs(minutes) <= widestMinutes
  if (/^[+-]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: text })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The reporting zone if the settings do not name one. */
export const defaultZone = 'Europe/London'

/** Accepts names only: engines differ on the sign of an offset. Names are case-sensitive in engines. */
export const isNamedZone = (text: string): boolean => /^[A-Z]/.test(text) && isZone(text)

/** Milliseconds to add to an instant so that, read as UTC, it shows the zone's local time. */
type ZoneShift = (timeMs: number) => number

const shifts = new Map<string, ZoneShift>([['UTC', () => 0]])

export function shiftOf(zone: string): ZoneShift {
  const known = shifts.get(zone) ?? shiftByQuarter(zone)
  shifts.set(zone, known)
  return known
}

function shiftByQuarter(zone: string): ZoneShift {
  const fixed = offsetMinutes(zone)
  if (fixed !== undefined) return () => fixed * minuteMs
  const known = new Map<number, number>()
  return timeMs => {
    const quarter = Math.floor(timeMs / quarterMs)
    const shift = known.get(quarter) ?? tzOffset(zone, new Date(quarter * quarterMs)) * minuteMs
    known.set(quarter, shift)
    return shift
  }
}

/** Such as +05:30. */
export function offsetName(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
