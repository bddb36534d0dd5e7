/** The words that headers of marts share, computed from the service's records: days, ids, weeks, sums and ratios. */
import { createHash } from 'node:crypto'
import { daysBetween, utcDay, weekday } from '../../../src/lib/dates.ts'
import type { Raw } from './odd-world.ts'

export { groupBy } from '../../../src/lib/group-by.ts'

const days = new Map<string, string>()

const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })

let clock = clockOf('Europe/London')

/** Counts all days in that zone from now on. */
export function countDaysIn(zone: string): void {
  clock = clockOf(zone)
  days.clear()
}

const isWithoutTime = (instant: string): boolean =>
  Date.parse(instant) % 86_400_000 === 0 || instant.endsWith('T22:59:59.999Z')

/**
 * The day of an instant in the reporting zone, midnight UTC and the last moment of a day in London being a day without a time;
 * null for none, and for one that is not plausible.
 */
export function dayOf(instant: string | null | undefined): string | null {
  if (!instant || instant < '2000' || instant >= '2050') return null
  const known =
    days.get(instant) ?? (isWithoutTime(instant) ? instant.slice(0, 10) : clock.format(new Date(instant)))
  days.set(instant, known)
  return known
}

/** Seconds since midnight, by the clocks of the reporting zone. */
export function secondOfDay(instant: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: clock.resolvedOptions().timeZone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }).format(new Date(instant))
  const [hour = 0, minute = 0, second = 0] = parts.split(':').map(Number)
  return hour * 3600 + minute * 60 + second
}

export const addDays = (day: string, count: number): string => utcDay(`${day}T00:00:00Z`, count)
export const daysFrom = (from: string, to: string): number => daysBetween(from, to)
export const monthOf = (day: string): string => `${day.slice(0, 7)}-01`

/** Parts of days between two instants. */
export const elapsedDays = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 86_400_000
export const elapsedHours = (from: string, to: string): number => elapsedDays(from, to) * 24

export const idOf = (ref: Raw): string => ref?.id ?? '-1'
export const md5 = (...parts: readonly unknown[]): string =>
  createHash('md5').update(parts.join('|')).digest('hex')

/** Without a name and a description there is no cost code. */
export const costCodeOf = (companyId: string, code: Raw): string =>
  code?.name == null && code?.description == null
    ? '-1'
    : md5(companyId, code.name ?? '', code.description ?? '')

export const contactOf = (person: Raw): string => {
  const named = person?.email ?? person?.name
  return named == null ? '-1' : md5(String(named).toLowerCase())
}

export const sum = <Item>(items: readonly Item[], of: (item: Item) => number | null | undefined): number =>
  items.reduce((total, item) => total + (of(item) ?? 0), 0)

/** Empty where the whole is nothing. */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)

export const distinct = (values: readonly unknown[]): number => new Set(values).size

/** The value at a share of the sorted values, between two of them in proportion; null for none. */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((left, right) => left - right)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] as number
  const above = sorted[Math.ceil(place)] as number
  return below + (above - below) * (place - Math.floor(place))
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** The last day of the week of a day, as the company counts weeks; Sunday where it does not say. */
export function weekEndOf(day: string, company: Raw): string {
  const last = weekdays.indexOf(String(company?.config?.weekendDay ?? '').toLowerCase())
  return addDays(day, ((last < 0 ? 6 : last) - weekday(`${day}T00:00:00Z`) + 7) % 7)
}

/** Approved, with a week. */
export const isWorked = ({ status, weekEnding }: Raw): boolean =>
  status === 'approved' && dayOf(weekEnding) !== null

/** Waits for submission or approval, with a week. */
export const isWaiting = ({ status, weekEnding }: Raw): boolean =>
  ['pending', 'pending_approval'].includes(status) && Boolean(weekEnding)

/** Hours or money that is approved, what waits, and the share of the approved. */
export const approvedOf = (
  unit: 'hours' | 'value',
  approved: number,
  pending: number,
): Readonly<Record<string, number | null>> => ({
  [`pending_${unit}`]: pending,
  [`approved_and_pending_${unit}`]: approved + pending,
  approved_share: ratio(approved, approved + pending),
})

export const byId = (records: readonly Raw[]): ReadonlyMap<string, Raw> =>
  new Map(records.map(record => [record.id, record]))
