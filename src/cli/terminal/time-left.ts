/** How long a run will still take: the requests that are left, at its own pace or that of the limit. */
import { minuteMs } from '../../lib/dates.ts'
import { isFinal, type ProgressEvent, type ProgressState } from './progress-state.ts'

/** Earlier, one slow page would make the estimate jump. */
export const minElapsedMs = 3_000

/** Pages, and records read one by one, each take one request. */
export const doneOf = (event: ProgressEvent): number => event.pagesDone ?? event.requests ?? 0

export const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

/** Milliseconds a request: as until now, but no faster than the limit allows once the run exceeds it. */
function paceMs(
  { sent, left, perMinute }: { sent: number; left: number; perMinute?: number },
  elapsedMs: number,
): number {
  const own = elapsedMs / sent
  return perMinute !== undefined && sent + left > perMinute ? Math.max(own, minuteMs / perMinute) : own
}

export interface TimeLeft {
  readonly ms: number
  /** Records that are still to be read may name others. */
  readonly isLeast: boolean
}

/** Undefined while a resource has not reported its size, or no request is left. */
export function timeLeft({ resources, budget }: ProgressState, elapsedMs: number): TimeLeft | undefined {
  const running = [...resources.values()].filter(event => !isFinal(event))
  const sent = budget?.spentThisRun ?? sum([...resources.values()].map(doneOf))
  if (elapsedMs < minElapsedMs || sent === 0) return undefined
  if (running.some(({ pagesTotal }) => pagesTotal === undefined)) return undefined
  const left = sum(running.map(event => Math.max(0, (event.pagesTotal ?? 0) - doneOf(event))))
  if (left === 0) return undefined
  return {
    ms: left * paceMs({ sent, left, ...(budget?.perMinute && { perMinute: budget.perMinute }) }, elapsedMs),
    isLeast: running.some(({ pagesTotal = 0, pagesMost = 0 }) => pagesMost > pagesTotal),
  }
}
