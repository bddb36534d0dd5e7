/** Converts the five cron fields of a DAG for schedulers with another syntax. */

import { nextDue } from '../../../lib/cron.ts'
import { hourMs, minuteMs } from '../../../lib/dates.ts'

interface Times {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  readonly months: readonly number[]
  /** 0 is Sunday. */
  readonly weekdays: readonly number[]
}

const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

interface CronFieldBounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const bounds: Readonly<Record<keyof Times, CronFieldBounds>> = {
  minutes: { min: 0, max: 59 },
  hours: { min: 0, max: 23 },
  days: { min: 1, max: 31 },
  months: { min: 1, max: 12, names: monthNames },
  // 7 is Sunday too.
  weekdays: { min: 0, max: 7, names: weekdayNames },
}

function numberOf(text: string, { min, names }: CronFieldBounds): number {
  const place = names?.indexOf(text.toLowerCase().slice(0, 3)) ?? -1
  return place < 0 ? Number(text) : place + min
}

/** The numbers of one part of a list: `*`, `7` or `1-5`, with an optional step. */
function numbersOf(part: string, limits: CronFieldBounds): number[] {
  const [range = '', step] = part.split('/')
  const [from = '', to] = range.split('-')
  const first = from === '*' ? limits.min : numberOf(from, limits)
  const isOpen = from === '*' || (to === undefined && step !== undefined)
  const last = isOpen ? limits.max : numberOf(to ?? from, limits)
  const numbers: number[] = []
  for (let value = first; value <= last; value += Number(step ?? 1)) numbers.push(value)
  return numbers
}

const setOf = (field: string, limits: CronFieldBounds): number[] =>
  [...new Set(field.split(',').flatMap(part => numbersOf(part, limits)))].sort((one, other) => one - other)

/** Parses a schedule that was validated before. */
function timesOf(schedule: string): Times {
  const [minutes = '*', hours = '*', days = '*', months = '*', weekdays = '*'] = schedule.trim().split(/\s+/)
  return {
    minutes: setOf(minutes, bounds.minutes),
    hours: setOf(hours, bounds.hours),
    days: setOf(days, bounds.days),
    months: setOf(months, bounds.months),
    weekdays: [...new Set(setOf(weekdays, bounds.weekdays).map(day => day % 7))].sort(
      (one, other) => one - other,
    ),
  }
}

const isFullRange = (numbers: readonly number[], name: keyof Times): boolean => {
  const { min, max } = bounds[name]
  return numbers.length >= (name === 'weekdays' ? 7 : max - min + 1)
}

const two = (value: number): string => String(value).padStart(2, '0')

/** In systemd's syntax. Cron runs if day or weekday matches, systemd if both do: a schedule with both takes two lines. */
export function calendarsOf(schedule: string): string[] {
  const times = timesOf(schedule)
  const field = (name: keyof Times): string =>
    isFullRange(times[name], name) ? '*' : times[name].map(two).join(',')
  const at = `${field('hours')}:${field('minutes')}:00 UTC`
  const names = times.weekdays.map(
    day => `${weekdayNames[day]?.replace(/^./, letter => letter.toUpperCase())}`,
  )
  const byWeekday = `${names.join(',')} *-${field('months')}-* ${at}`
  const byDay = `*-${field('months')}-${field('days')} ${at}`
  if (isFullRange(times.weekdays, 'weekdays')) return [byDay]
  return isFullRange(times.days, 'days') ? [byWeekday] : [byWeekday, byDay]
}

/**
 * Seconds after which a scheduler ends a run: shortly before the next one and within a day, so that a hanging run is reported
 * on the same day. A run stopped this way ends cleanly, and the next one continues.
 */
export function longestSeconds(schedule: string, nowMs: number): number {
  const first = nextDue(schedule, nowMs)
  const between = nextDue(schedule, first) - first
  return Math.round((Math.min(between, 24 * hourMs) - Math.min(between / 10, 30 * minuteMs)) / 1000)
}
