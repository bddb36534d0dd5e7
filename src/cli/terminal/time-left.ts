/** How long a run will still take, from when it sent its requests, how long its loads took, and what it knows to be left. */
import { isFinal, type ProgressEvent, type ProgressState } from './progress-state.ts'
import { loadMs, requestMs, workSince } from './work.ts'

/** Earlier, one slow page would make the estimate jump. */
export const soonestEstimateMs = 3_000

/** The minute of the limit, which begins when a request was answered. */
const windowMs = 60_000

/** Pages, and records read one by one, each take one request. */
export const doneOf = (event: ProgressEvent): number => event.pagesDone ?? event.requests ?? 0

export const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

interface StepsLeft {
  readonly requests: number
  readonly loads: number
}

/** Batches are counted for the pages that are known. A resource whose batches nobody counts is loaded once, after its last page. */
function loadsLeft(event: ProgressEvent, requests: number): number {
  const { loadsDone = 0, loadsTotal, pagesTotal = 0 } = event
  if (loadsTotal !== undefined) {
    const known = Math.max(1, pagesTotal - doneOf(event))
    const loads = (loadsTotal - loadsDone) * Math.max(1, requests / known)
    return Math.max(requests > 0 ? 1 : 0, Math.ceil(loads))
  }
  return requests > 0 || (loadsDone === 0 && doneOf(event) > 0) ? 1 : 0
}

function stepsOf(
  running: readonly ProgressEvent[],
  underWay: number,
  totalOf: (event: ProgressEvent) => number,
): StepsLeft {
  const left = running.map(event => {
    const requests = Math.max(0, totalOf(event) - doneOf(event))
    return { requests, loads: loadsLeft(event, requests) }
  })
  // What is under way needs no further leave of the limit.
  const requests = Math.max(0, sum(left.map(one => one.requests)) - underWay)
  return { requests, loads: sum(left.map(one => one.loads)) }
}

/** Undefined while something is at work whose size nobody knows. */
function stepsLeft({ resources, budget }: ProgressState): { least: StepsLeft; most: StepsLeft } | undefined {
  const open = [...resources.values()].filter(
    ({ state }) => !['skipped', 'incomplete', 'failed'].includes(state),
  )
  if (!open.every(event => isFinal(event) || event.pagesTotal !== undefined)) return undefined
  if (sum(open.map(doneOf)) === 0) return undefined
  const running = open.filter(event => !isFinal(event))
  const { underWay = 0 } = budget ?? {}
  return {
    least: stepsOf(running, underWay, ({ pagesTotal = 0 }) => pagesTotal),
    most: stepsOf(running, underWay, ({ pagesTotal = 0, pagesMost = pagesTotal }) => pagesMost),
  }
}

/** When the limit lets the next request go, after those that were answered. */
const freeAt = (answered: readonly number[], perMinute: number): number =>
  (answered[answered.length - perMinute] ?? Number.NEGATIVE_INFINITY) + windowMs

/**
 * Milliseconds until so many steps are done, and the run is closed, which takes about as long as a load. Loads come evenly
 * among the requests, the last one after the last request.
 */
function timeFor({ requests, loads }: StepsLeft, state: ProgressState, nowMs: number): number {
  const { budget, sentMs, work, told } = state
  const perMinute = budget?.perMinute ?? Number.POSITIVE_INFINITY
  const [ofRequest, ofLoad] = [requestMs(work), loadMs(work)]
  const answered = sentMs.map(sent => sent + ofRequest)
  // The step under way has begun; it may take longer than others, but none of those after it is done.
  let at =
    nowMs - Math.min(workSince(work, { told, nowMs }), loads > 0 || requests === 0 ? ofLoad : ofRequest)
  for (let request = 1; request <= requests; request += 1) {
    at = Math.max(at + ofRequest, freeAt(answered, perMinute), told?.freeAt ?? 0)
    answered.push(at + ofRequest)
    at += ofLoad * (Math.floor((request * loads) / requests) - Math.floor(((request - 1) * loads) / requests))
  }
  if (requests === 0) at += ofLoad * loads
  return Math.max(0, at + ofLoad - nowMs)
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
  const left = stepsLeft(state)
  if (left === undefined || state.sentMs.length === 0 || elapsedMs < soonestEstimateMs) return undefined
  const nowMs = state.startedMs + elapsedMs
  const least = timeFor(left.least, state, nowMs)
  const most = left.most.requests === left.least.requests ? least : timeFor(left.most, state, nowMs)
  if (isNear(least, most)) return { ms: (least + most) / 2, isLeast: false }
  return left.least.requests === 0 ? undefined : { ms: least, isLeast: true }
}
