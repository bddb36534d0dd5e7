/** Where a moment counts under a definition: its month, its week, and whether it lies in a range of days. */
import { dayMs, utcDay, weekday } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Keys } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'

/** Days from Monday to the first day of the week. */
const firstDays = { monday: 0, sunday: 6, saturday: 5 } as const

/** What the clocks of the zone show, read as UTC. */
export const localTime = (timeMs: number, { zone }: Pick<MetricDefinition, 'zone'>): number =>
  timeMs + shiftOf(zone)(timeMs)

export function periodKeys(
  timeMs: number,
  definition: MetricDefinition,
): { readonly month: string; readonly week: string } {
  const day = utcDay(localTime(timeMs, definition))
  const since = (weekday(day) - firstDays[definition.weekStart] + 7) % 7
  return { month: day.slice(0, 7), week: utcDay(day, -since) }
}

/** The same condition as in the SQL of the metrics. */
export function isInRange(
  { keys, timeMs }: { readonly keys: Keys; readonly timeMs: number },
  range: MetricRange,
  definition: MetricDefinition,
): boolean {
  const local = localTime(timeMs, definition)
  const first =
    range.from === undefined
      ? -Infinity
      : Date.parse(range.from) + (definition.from === 'inclusive' ? 0 : dayMs)
  const beyond = { inclusive: dayMs, midnight: 1, exclusive: 0 }[definition.to]
  const end = range.to === undefined ? Infinity : Date.parse(range.to) + beyond
  const isAsked = (['company', 'project', 'agency'] as const).every(
    key => range[key] === undefined || range[key] === keys[key],
  )
  return isAsked && local >= first && local < end
}
