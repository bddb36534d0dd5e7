/** Counts and spans of time in text. */
import { dayMs, hourMs, minuteMs } from './dates.ts'

const thousands = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

export function formatNumber(value: number | bigint): string {
  return thousands.format(value)
}

/** `1 row`, `1,234 rows`; `several` is the plural where it is not `one` with an s. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`
}

/** The largest first. */
export const timeUnits = [
  { name: 'day', ms: dayMs },
  { name: 'hour', ms: hourMs },
  { name: 'minute', ms: minuteMs },
] as const

/** `2 hours`, `1.5 hours`, `3 minutes`: to the minute, in the largest unit that fits. */
export function formatSpan(milliseconds: number): string {
  const ms = Math.max(1, Math.round(milliseconds / minuteMs)) * minuteMs
  const { name, ms: unit } = timeUnits.find(one => ms >= one.ms) ?? timeUnits[2]
  return counted(Math.round((ms / unit) * 10) / 10, name)
}
