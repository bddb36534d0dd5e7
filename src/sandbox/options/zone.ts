/** Wall clocks: what a zone's clocks show at an instant, for filters by day. */

const OFFSET = /^([+-])(\d{2}):(\d{2})$/
const MINUTE_MS = 60_000
const WIDEST_MINUTES = 14 * 60

/** Milliseconds to add to an instant, so that read as UTC it is what the zone's clocks show. */
type Shift = (timeMs: number) => number

function fixedShift(zone: string): Shift | undefined {
  if (zone === 'UTC') return () => 0
  const parts = OFFSET.exec(zone)
  if (!parts) return undefined
  const minutes = Number(parts[2]) * 60 + Number(parts[3])
  if (Number(parts[3]) > 59 || minutes > WIDEST_MINUTES) return undefined
  const shift = (parts[1] === '-' ? -minutes : minutes) * MINUTE_MS
  return () => shift
}

function namedShift(zone: string): Shift {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  // Offsets change on the quarter of an hour at the soonest, and formatting costs a microsecond or two.
  const known = new Map<number, number>()
  return timeMs => {
    const quarter = Math.floor(timeMs / (15 * MINUTE_MS))
    const shift = known.get(quarter) ?? shiftAt(parts, quarter * 15 * MINUTE_MS)
    known.set(quarter, shift)
    return shift
  }
}

function shiftAt(format: Intl.DateTimeFormat, timeMs: number): number {
  const shown = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, value]))
  const { year, month, day, hour, minute, second } = shown
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - timeMs
}

/** An IANA name, or an offset such as +05:30. */
export function isZone(text: string): boolean {
  if (fixedShift(text)) return true
  if (OFFSET.test(text)) return false
  try {
    namedShift(text)
    return true
  } catch {
    return false
  }
}

/** Kept by zone: a formatter costs more to make than a thousand instants to shift. */
const shifts = new Map<string, Shift>()

export function shiftOf(zone: string): Shift {
  const known = shifts.get(zone) ?? fixedShift(zone) ?? namedShift(zone)
  shifts.set(zone, known)
  return known
}
