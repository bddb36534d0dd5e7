/** How long ago something was, in the largest unit that tells it. */

import { counted } from '../../lib/counted.ts'
import { dayMs, hourMs, minuteMs } from '../../lib/dates.ts'

const units = [
  { name: 'day', ms: dayMs },
  { name: 'hour', ms: hourMs },
  { name: 'minute', ms: minuteMs },
] as const

export function ageOf(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant)
  for (const { name, ms: unit } of units) {
    const count = Math.floor(ms / unit)
    if (count >= 1) return `${counted(count, name)} ago`
  }
  return 'just now'
}
