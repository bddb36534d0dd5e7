/** How long a run will still take, from when it sent its requests and what it knows to be left. */
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

/** A longer pause was asked for, or is for requests of an earlier run; no answer takes so long, nor so many times as long as others. */
const shortestPauseMs = 5_000
const timesAsLong = 8

/** When the limit lets the request at this place go, after those before it. */
const freeAt = (times: readonly number[], place: number, perMinute: number): number =>
  (times[place - perMinute] ?? Number.NEGATIVE_INFINITY) + windowMs

/** Milliseconds from one request to the next where nothing but work is between them. */
function workOfOne(startedMs: number, sentMs: readonly number[], perMinute: number): number {
  const gaps = sentMs.flatMap((at, place) => {
    const before = sentMs[place - 1] ?? startedMs
    return freeAt(sentMs, place, perMinute) > before ? [] : [at - before]
  })
  const median = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0
  const work = gaps.filter(gap => gap <= Math.max(shortestPauseMs, timesAsLong * median))
  return sum(work) / Math.max(1, work.length)
}

/** Milliseconds. Waits for the limit are counted apart from work: the next requests go as it will let them. */
export function timeLeft(state: ProgressState, elapsedMs: number): number | undefined {
  const left = pagesLeft(state)
  const { budget, sentMs, startedMs } = state
  if (left === undefined || sentMs.length === 0 || elapsedMs < soonestEstimateMs) return undefined
  const perMinute = budget?.perMinute ?? Number.POSITIVE_INFINITY
  const nowMs = startedMs + elapsedMs
  const work = workOfOne(startedMs, sentMs, perMinute)
  // Nothing of this run explains such a wait: requests of the run before it take up the first minute.
  const isHeld = budget?.perMinute !== undefined && nowMs - (sentMs.at(-1) ?? nowMs) > shortestPauseMs
  const soonest = isHeld ? Math.max(nowMs, startedMs + windowMs) : nowMs
  const times = [...sentMs]
  for (let place = times.length; place < sentMs.length + left; place += 1)
    times.push(Math.max((times[place - 1] ?? nowMs) + work, freeAt(times, place, perMinute), soonest))
  return Math.max(0, (times.at(-1) ?? nowMs) - nowMs)
}
