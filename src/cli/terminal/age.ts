/** How long ago something was, in the largest unit that tells it. */
import { counted } from '../../lib/counted.ts'

const units = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
] as const

export function ageOf(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant)
  for (const { name, ms: unit } of units) {
    const count = Math.floor(ms / unit)
    if (count >= 1) return `${counted(count, name)} ago`
  }
  return 'just now'
}
