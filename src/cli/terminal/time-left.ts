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

interface PagesLeft {
  readonly least: number
  readonly most: number
}

/** Undefined while something is at work whose size nobody knows. */
function pagesLeft({ resources }: ProgressState): PagesLeft | undefined {
  const open = [...resources.values()].filter(
    ({ state }) => !['skipped', 'incomplete', 'failed'].includes(state),
  )
  if (!open.every(event => isFinal(event) || event.pagesTotal !== undefined)) return undefined
  const running = open.filter(event => !isFinal(event))
  const leftOf = (event: ProgressEvent, total = 0): number => Math.max(0, total - doneOf(event))
  const least = sum(running.map(event => leftOf(event, event.pagesTotal)))
  const most = sum(running.map(event => leftOf(event, event.pagesMost ?? event.pagesTotal)))
  return sum(open.map(doneOf)) === 0 || most === 0 ? undefined : { least, most }
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

/** Milliseconds until so many more requests are sent. Waits for the limit are counted apart from work. */
function timeFor(left: number, { budget, sentMs, startedMs }: ProgressState, nowMs: number): number {
  const perMinute = budget?.perMinute ?? Number.POSITIVE_INFINITY
  const work = workOfOne(startedMs, sentMs, perMinute)
  // Nothing of this run explains such a wait: requests of the run before it take up the first minute.
  const isHeld = budget?.perMinute !== undefined && nowMs - (sentMs.at(-1) ?? nowMs) > shortestPauseMs
  const soonest = isHeld ? Math.max(nowMs, startedMs + windowMs) : nowMs
  const times = [...sentMs]
  for (let place = times.length; place < sentMs.length + left; place += 1)
    times.push(Math.max((times[place - 1] ?? nowMs) + work, freeAt(times, place, perMinute), soonest))
  return Math.max(0, (times.at(-1) ?? nowMs) - nowMs)
}

export interface TimeLeft {
  readonly ms: number
  /** It takes so long without the records that others may name. */
  readonly isLeast: boolean
}

/** How far an estimate may be from the truth: a share of it, or so many milliseconds. */
const tolerance = 0.3
const toleranceMs = 3_000

const isNear = (ms: number, other: number): boolean =>
  Math.abs(ms - other) <= Math.max(tolerance * Math.min(ms, other), toleranceMs)

/** Undefined where nobody can know; the least where the most is too far from it for an estimate between them. */
export function timeLeft(state: ProgressState, elapsedMs: number): TimeLeft | undefined {
  const left = pagesLeft(state)
  if (left === undefined || state.sentMs.length === 0 || elapsedMs < soonestEstimateMs) return undefined
  const nowMs = state.startedMs + elapsedMs
  const least = timeFor(left.least, state, nowMs)
  const most = left.most === left.least ? least : timeFor(left.most, state, nowMs)
  if (isNear(least, most)) return { ms: (least + most) / 2, isLeast: false }
  return left.least === 0 ? undefined : { ms: least, isLeast: true }
}
