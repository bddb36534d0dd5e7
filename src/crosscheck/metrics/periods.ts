/** Finds the day, month and week of a timestamp under a definition, and whether it lies in a range of days. */
import { dayMs, utcDay, weekday } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { MetricDefinition } from './definition.ts'
import type { Keys } from './group-keys.ts'
import type { MetricRange } from './metric-query.ts'

/** Days from Monday to the first day of the week. */
const firstDays = { monday: 0, sunday: 6, saturday: 5 } as const

/** Local time in the zone, read as UTC. */
export const localTime = (timeMs: number, zone: string): number => timeMs + shiftOf(zone)(timeMs)

export const localDay = (timeMs: number, zone: string): string => utcDay(localTime(timeMs, zone))

export const firstOfWeek = (day: string, start: MetricDefinition['weekStart']): string =>
  utcDay(day, -((weekday(day) - firstDays[start] + 7) % 7))

export function periodKeys(
  timeMs: number,
  { zone, weekStart }: MetricDefinition,
): { readonly month: string; readonly week: string } {
  const day = localDay(timeMs, zone)
  return { month: day.slice(0, 7), week: firstOfWeek(day, weekStart) }
}

/** Local time at which a range begins, and at which it has ended; undefined without a limit. */
export function limitsOf(
  { from, to }: MetricRange,
  definition: MetricDefinition,
): { readonly first: number | undefined; readonly beyond: number | undefined } {
  const skipped = definition.from === 'inclusive' ? 0 : dayMs
  const counted = { inclusive: dayMs, midnight: 1, exclusive: 0 }[definition.to]
  return {
    first: from === undefined ? undefined : Date.parse(from) + skipped,
    beyond: to === undefined ? undefined : Date.parse(to) + counted,
  }
}

/** The same condition as in the SQL of the metrics. */
export function isInRange(
  { keys, timeMs }: { readonly keys: Keys; readonly timeMs: number },
  range: MetricRange,
  definition: MetricDefinition,
): boolean {
  const local = localTime(timeMs, definition.zone)
  const { first = -Infinity, beyond = Infinity } = limitsOf(range, definition)
  const isAsked = (['company', 'project', 'agency'] as const).every(
    key => range[key] === undefined || range[key] === keys[key],
  )
  return isAsked && local >= first && local < beyond
}
