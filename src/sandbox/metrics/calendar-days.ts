/** Days, weeks and months of instants, as the clocks of a zone show them. */
import { instantRange } from '../declare/day-range.ts'
import { shiftOf } from '../options/zone.ts'
import type { MetricOptions } from './options.ts'

const DAY_MS = 86_400_000

/** The calendar day of an instant, as UTC midnight of the same date. */
function dayOf(timeMs: number, zone: string): number {
  return Math.floor((timeMs + shiftOf(zone)(timeMs)) / DAY_MS) * DAY_MS
}

export function daysBetween(fromMs: number, toMs: number, unit: MetricOptions['days']): number {
  const days = (toMs - fromMs) / DAY_MS
  if (unit === 'fractional') return days
  if (unit === 'floor' || unit === 'ceil' || unit === 'round') return Math[unit](days)
  return calendarDays(fromMs, toMs, unit === 'calendarLondon' ? 'Europe/London' : 'UTC')
}

/** Midnights passed. */
export function calendarDays(fromMs: number, toMs: number, zone: string): number {
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
export function dayMonthYear(timeMs: number | undefined, zone: string): string {
  if (timeMs === undefined) return ''
  const [year, month, day] = dateOf(dayOf(timeMs, zone)).split('-')
  return `${day}/${month}/${year}`
}

export interface DayWindow {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export function inWindow(
  { from, to }: DayWindow,
  options: Pick<MetricOptions, 'zone' | 'from' | 'to'>,
): (timeMs: number) => boolean {
  return instantRange(from, to, { from: options.from, to: options.to, 'day-zone': options.zone })
}
