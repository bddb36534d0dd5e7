/** Time zones in which a service may count days. */
import { offsetName } from '../../lib/zones.ts'

/** One for each of the usual rules, tried first: of zones that agree with all answers, the first one is chosen. */
const usual = [
  ...['UTC', 'Europe/London', 'Europe/Dublin', 'Europe/Paris', 'Europe/Berlin', 'Europe/Athens'],
  ...['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Sao_Paulo'],
  ...['Asia/Dubai', 'Asia/Singapore', 'Asia/Tokyo', 'Australia/Sydney', 'Pacific/Auckland'],
]

const quarters = (from: number, to: number): string[] =>
  Array.from({ length: (to - from) / 15 + 1 }, (_, index) => offsetName(from + index * 15))

/** Every IANA zone, then offsets that are none: from -12:00 to +14:00, by the quarter of an hour. */
export const allZones: readonly string[] = [
  ...new Set([...usual, ...Intl.supportedValuesOf('timeZone'), ...quarters(-12 * 60, 14 * 60)]),
]
