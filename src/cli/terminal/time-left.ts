/** How long a run will still take, from what it has sent and what it knows to be left. */
import { isFinal, type ProgressEvent, type ProgressState } from './progress-state.ts'

/** Earlier, one slow page would make the estimate jump. */
export const soonestEstimateMs = 3_000

/** A minute of the limit, with what the client adds to it. */
const windowMs = 61_800

/** Pages, and records read one by one, each take one request. */
export const doneOf = (event: ProgressEvent): number => event.pagesDone ?? event.requests ?? 0

export const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

/** Pages that are left; undefined while something is at work whose size nobody knows. */
function pagesLeft({ resources }: ProgressState): number | undefined {
  const open = [...resources.values()].filter(
    ({ state }) => !['skipped', 'incomplete', 'failed'].includes(state),
  )
  if (!open.every(event => isFinal(event) || event.pagesTotal !== undefined)) return undefined
  const running = open.filter(event => !isFinal(event))
  const done = sum(open.map(doneOf))
  const left = sum(running.map(event => Math.max(0, (event.pagesTotal ?? 0) - doneOf(event))))
  return done === 0 || left === 0 ? undefined : left
}

/**
 * Milliseconds. The requests of a minute go out at once and the next ones wait until it has passed: waits are counted apart from
 * work, whose speed the time of the latest request tells.
 */
export function timeLeft(state: ProgressState, elapsedMs: number): number | undefined {
  const left = pagesLeft(state)
  const { budget, budgetMs, startedMs } = state
  if (left === undefined || !budget || budgetMs === undefined || elapsedMs < soonestEstimateMs)
    return undefined
  const { spentThisRun: sent, perMinute = Number.POSITIVE_INFINITY } = budget
  const waitedAt = (requests: number): number =>
    perMinute === Number.POSITIVE_INFINITY ? 0 : Math.floor((requests - 1) / perMinute) * windowMs
  const perRequest = Math.max(0, budgetMs - startedMs - waitedAt(sent)) / Math.max(1, sent)
  return Math.max(0, waitedAt(sent + left) + (sent + left) * perRequest - elapsedMs)
}
