/** Formats counts and spans of time as text. */
import { dayMs, hourMs, minuteMs } from './dates.ts'

const thousands = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

export function formatNumber(value: number | bigint): string {
  return thousands.format(value)
}

/** Returns `1 row` or `1,234 rows`; `several` is an irregular plural. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`
}

/** Largest first. */
export const timeUnits = [
  { name: 'day', ms: dayMs },
  { name: 'hour', ms: hourMs },
  { name: 'minute', ms: minuteMs },
] as const

/** Returns `2 hours`, `1.5 hours` or `3 minutes`: rounded to minutes, in the largest unit that fits. */
export function formatSpan(milliseconds: number): string {
  const ms = Math.max(1, Math.round(milliseconds / minuteMs)) * minuteMs
  const { name, ms: unit } = timeUnits.find(one => ms >= one.ms) ?? timeUnits[2]
  return counted(Math.round((ms / unit) * 10) / 10, name)
}
