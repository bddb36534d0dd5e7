/** The day, week and month of an instant in a time zone. */
import { dayMs, daysBetween, firstOfMonth, isoWeek, utcDay, weekday } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { ContractOptions } from '../options/contract-options.ts'

function dayOf(timeMs: number, zone: string): string {
  return utcDay(timeMs + shiftOf(zone)(timeMs))
}

/** Midnights passed. */
export function calendarDays(fromMs: number, toMs: number, zone: string): number {
  return daysBetween(dayOf(fromMs, zone), dayOf(toMs, zone))
}

export function daysToFill(fromMs: number, toMs: number, options: ContractOptions): number {
  const unit = options['fill-days']
  const days = (toMs - fromMs) / dayMs
  if (unit === 'fractional') return days
  if (unit === 'floor' || unit === 'ceil' || unit === 'round') return Math[unit](days)
  const zone = { calendarUtc: 'UTC', calendarLondon: 'Europe/London', calendarZone: options['day-zone'] }[
    unit
  ]
  return calendarDays(fromMs, toMs, zone)
}

/** Days from Monday to the first day of the week. */
const firstDays = { monday: 0, sunday: 6, saturday: 5 } as const

/** The ISO week of a week is that of its fourth day. */
export function weekKey(timeMs: number, options: ContractOptions): string {
  const day = dayOf(timeMs, options['day-zone'])
  const first = utcDay(day, -((weekday(day) - firstDays[options['week-start']] + 7) % 7))
  return options['week-key'] === 'firstDay' ? first : isoWeek(utcDay(first, 3))
}

export function monthKey(timeMs: number, options: ContractOptions): string {
  const day = dayOf(timeMs, options['day-zone'])
  return options['month-key'] === 'firstDay' ? firstOfMonth(day) : day.slice(0, 7)
}

/** The format of metric rows; empty for a stage that was not reached. */
export function dayMonthYear(timeMs: number | undefined, zone: string): string {
  if (timeMs === undefined) return ''
  const [year, month, day] = dayOf(timeMs, zone).split('-')
  return `${day}/${month}/${year}`
}
