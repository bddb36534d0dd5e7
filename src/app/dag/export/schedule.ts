/** The five cron fields of a DAG as sets of numbers, for schedulers that write times another way. */

import { hourMs, minuteMs } from '../../../lib/dates.ts'
import { nextDue } from '../../../lib/time/cron.ts'

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

interface Bounds {
  readonly least: number
  readonly most: number
  readonly names?: readonly string[]
}

const bounds: Readonly<Record<keyof Times, Bounds>> = {
  minutes: { least: 0, most: 59 },
  hours: { least: 0, most: 23 },
  days: { least: 1, most: 31 },
  months: { least: 1, most: 12, names: monthNames },
  // 7 is Sunday too.
  weekdays: { least: 0, most: 7, names: weekdayNames },
}

function numberOf(text: string, { least, names }: Bounds): number {
  const place = names?.indexOf(text.toLowerCase().slice(0, 3)) ?? -1
  return place < 0 ? Number(text) : place + least
}

/** One part of a list: `*`, `7`, `1-5`, each perhaps with a step. */
function numbersOf(part: string, limits: Bounds): number[] {
  const [range = '', step] = part.split('/')
  const [from = '', to] = range.split('-')
  const first = from === '*' ? limits.least : numberOf(from, limits)
  const isOpen = from === '*' || (to === undefined && step !== undefined)
  const last = isOpen ? limits.most : numberOf(to ?? from, limits)
  const numbers: number[] = []
  for (let value = first; value <= last; value += Number(step ?? 1)) numbers.push(value)
  return numbers
}

const setOf = (field: string, limits: Bounds): number[] =>
  [...new Set(field.split(',').flatMap(part => numbersOf(part, limits)))].sort((one, other) => one - other)

/** Of a schedule that was checked. */
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

const isWhole = (numbers: readonly number[], name: keyof Times): boolean => {
  const { least, most } = bounds[name]
  return numbers.length >= (name === 'weekdays' ? 7 : most - least + 1)
}

const two = (value: number): string => String(value).padStart(2, '0')

/** In systemd's words. Cron runs when day or weekday fits, systemd when both do: where both are given, there are two lines. */
export function calendarsOf(schedule: string): string[] {
  const times = timesOf(schedule)
  const field = (name: keyof Times): string =>
    isWhole(times[name], name) ? '*' : times[name].map(two).join(',')
  const at = `${field('hours')}:${field('minutes')}:00 UTC`
  const names = times.weekdays.map(
    day => `${weekdayNames[day]?.replace(/^./, letter => letter.toUpperCase())}`,
  )
  const byWeekday = `${names.join(',')} *-${field('months')}-* ${at}`
  const byDay = `*-${field('months')}-${field('days')} ${at}`
  if (isWhole(times.weekdays, 'weekdays')) return [byDay]
  return isWhole(times.days, 'days') ? [byWeekday] : [byWeekday, byDay]
}

/**
 * Seconds after which a scheduler ends a run: shortly before the next one, and within a day, so that a run that hangs is told
 * as a failure on the same day. Stopped in time, it ends cleanly and the next run goes on.
 */
export function longestSeconds(schedule: string, nowMs: number): number {
  const first = nextDue(schedule, nowMs)
  const between = nextDue(schedule, first) - first
  return Math.round((Math.min(between, 24 * hourMs) - Math.min(between / 10, 30 * minuteMs)) / 1000)
}
