/** Days, weeks and months of instants, in UTC or in London. */
import type { MetricOptions } from './options.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Zone = MetricOptions['zone']

/** Summer time: from the last Sunday of March, 01:00 UTC, to the last Sunday of October, 01:00 UTC. */
function londonOffset(timeMs: number): number {
  const year = new Date(timeMs).getUTCFullYear()
  const changeIn = (month: number) => {
    const last = Date.UTC(year, month + 1, 0)
    return last - new Date(last).getUTCDay() * DAY_MS + HOUR_MS
  }
  return timeMs >= changeIn(2) && timeMs < changeIn(9) ? HOUR_MS : 0
}

/** The calendar day of an instant, as UTC midnight of the same date. */
function dayOf(timeMs: number, zone: Zone): number {
  const local = timeMs + (zone === 'london' ? londonOffset(timeMs) : 0)
  return Math.floor(local / DAY_MS) * DAY_MS
}

export function daysBetween(fromMs: number, toMs: number, unit: MetricOptions['days']): number {
  const days = (toMs - fromMs) / DAY_MS
  if (unit === 'fractional') return days
  if (unit === 'floor' || unit === 'ceil' || unit === 'round') return Math[unit](days)
  const zone = unit === 'calendarLondon' ? 'london' : 'utc'
  return (dayOf(toMs, zone) - dayOf(fromMs, zone)) / DAY_MS
}

/** Days since the Monday that most weeks start with. */
const startOffsets = { monday: 0, sunday: 6, saturday: 5 } as const

export function weekKey(timeMs: number, options: MetricOptions): string {
  const day = dayOf(timeMs, options.zone)
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  const first = day - ((weekday - startOffsets[options.weekStart] + 7) % 7) * DAY_MS
  return options.weekKey === 'firstDay' ? dateOf(first) : isoWeek(first + 3 * DAY_MS)
}

export function monthKey(timeMs: number, options: MetricOptions): string {
  const month = dateOf(dayOf(timeMs, options.zone)).slice(0, 7)
  return options.monthKey === 'firstDay' ? `${month}-01` : month
}

function isoWeek(day: number): string {
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  const thursday = day + (3 - weekday) * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const week = Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}

function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10)
}

/** As metric rows write it; empty for what did not happen. */
export function dayMonthYear(timeMs: number | undefined, zone: Zone): string {
  if (timeMs === undefined) return ''
  const [year, month, day] = dateOf(dayOf(timeMs, zone)).split('-')
  return `${day}/${month}/${year}`
}

export interface DayWindow {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export function inWindow({ from, to }: DayWindow, { zone, to: end }: Pick<MetricOptions, 'zone' | 'to'>) {
  const first = from === undefined ? -Infinity : Date.parse(from)
  const last = to === undefined ? Infinity : Date.parse(to) - (end === 'inclusive' ? 0 : DAY_MS)
  return (timeMs: number) => {
    const day = dayOf(timeMs, zone)
    return day >= first && day <= last
  }
}
