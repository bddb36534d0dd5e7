/** Computes with days, in UTC, for all of Muster. An instant is a number of milliseconds, a day is YYYY-MM-DD. */
import { UTCDateMini } from '@date-fns/utc/date/mini'
import { addDays } from 'date-fns/addDays'
import { addMonths } from 'date-fns/addMonths'
import {
  millisecondsInDay,
  millisecondsInHour,
  millisecondsInMinute,
  millisecondsInWeek,
} from 'date-fns/constants'
import { differenceInCalendarDays } from 'date-fns/differenceInCalendarDays'
import { getISODay } from 'date-fns/getISODay'
import { getISOWeek } from 'date-fns/getISOWeek'
import { getISOWeekYear } from 'date-fns/getISOWeekYear'
import { isValid } from 'date-fns/isValid'
import { setISOWeek } from 'date-fns/setISOWeek'
import { startOfDay } from 'date-fns/startOfDay'
import { startOfISOWeek } from 'date-fns/startOfISOWeek'
import { startOfMonth } from 'date-fns/startOfMonth'

export const minuteMs = millisecondsInMinute
export const hourMs = millisecondsInHour
export const dayMs = millisecondsInDay
export const weekMs = millisecondsInWeek

/** Whether a text is a calendar day, written YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const date = new UTCDateMini(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && isValid(date) && dayText(date) === text
}

/** The day of an instant, shifted by a number of days. A day counts as its first instant. */
export function utcDay(instant: string | number, shift = 0): string {
  return dayText(addDays(new UTCDateMini(instant), shift))
}

/** Whether an instant is less than `ms` ago. False for a future instant, which comes from a wrong clock. */
export function isWithin(instant: string, now: number, ms: number): boolean {
  const age = now - Date.parse(instant)
  return age >= 0 && age < ms
}

/** Days from one day to another; negative if `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return differenceInCalendarDays(new UTCDateMini(to), new UTCDateMini(from))
}

/** The first instant of the day of an instant, shifted by a number of days. */
export function startOfUtcDay(instant: string | number, shift = 0): number {
  return addDays(startOfDay(new UTCDateMini(instant)), shift).getTime()
}

/** The first day of the month of an instant, shifted by a number of months. */
export function firstOfMonth(instant: string | number, shift = 0): string {
  return dayText(addMonths(startOfMonth(new UTCDateMini(instant)), shift))
}

/** January is 1. */
export function monthOf(instant: string | number): number {
  return new UTCDateMini(instant).getMonth() + 1
}

export function yearOf(instant: string | number): number {
  return new UTCDateMini(instant).getFullYear()
}

/** Days since Monday: 0 to 6. */
export function weekday(instant: string | number): number {
  return getISODay(new UTCDateMini(instant)) - 1
}

/** The first instant of the next given weekday, today included; 0 is Monday. */
export function weekdayFrom(instant: string | number, day: number): number {
  return startOfUtcDay(instant, (day - weekday(instant) + 7) % 7)
}

/** The ISO week of an instant, such as 2026-W47. */
export function isoWeek(instant: string | number): string {
  const date = new UTCDateMini(instant)
  return `${getISOWeekYear(date)}-W${String(getISOWeek(date)).padStart(2, '0')}`
}

/** The Monday of an ISO week such as 2026-W47, shifted by a number of days; undefined for any other text. */
export function mondayOf(week: string, shift = 0): string | undefined {
  const [, year, number] = /^(\d{4})-W(\d{2})$/.exec(week) ?? []
  if (year === undefined) return undefined
  const inTheYear = new UTCDateMini(Number(year), 0, 4)
  return dayText(addDays(startOfISOWeek(setISOWeek(inTheYear, Number(number))), shift))
}

/** An instant for display: `2026-11-24 00:00 UTC`, with seconds if they are not zero. */
export function clockTime(instant: string | number): string {
  const [day, time = ''] = new UTCDateMini(instant).toISOString().split('T')
  return `${day} ${time.slice(0, 8).replace(/:00$/, '')} UTC`
}

function dayText(date: Date): string {
  return date.toISOString().slice(0, 10)
}
