/** How a 429 says when to come back. */
import type { ContractOptions } from '../options/contract-options.ts'

/** Rounded up: whoever waits as told is not refused again. A date has whole seconds too. */
export function retryAfter(
  reading: ContractOptions['retry-after'],
  nowMs: number,
  waitMs: number,
): Record<string, string> {
  if (reading === 'absent') return {}
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const at = new Date(Math.ceil((nowMs + waitMs) / 1000) * 1000).toUTCString()
  return { 'retry-after': reading === 'date' ? at : String(seconds) }
}
