/** How long requests and loads take, waits for the limit left out, from the moments at which they ended. */

/** Milliseconds of the last steps of each kind, oldest first. */
export interface Work {
  readonly requests: readonly number[]
  readonly loads: readonly number[]
  /** When the last step ended; undefined before the first request. */
  readonly sinceMs?: number
  /** Milliseconds that requests had waited by then. */
  readonly waitedMs: number
}

export const noWork: Work = { requests: [], loads: [], waitedMs: 0 }

/** Steps of one kind that tell of the next ones: the records of one part of a run are not as large as those of another. */
const mostRequests = 60
const mostLoads = 20

/** What was told of the limit, and when. */
export interface Told {
  readonly waitedMs: number
  readonly isWaiting: boolean
  readonly freeAt: number
  readonly atMs: number
}

interface Moment {
  readonly told: Told | undefined
  readonly nowMs: number
}

/** Milliseconds that requests have waited by now: what was told, and the wait that has gone on since. */
function waitedBy({ told, nowMs }: Moment): number {
  if (!told) return 0
  const since = told.isWaiting ? Math.min(nowMs, told.freeAt) - told.atMs : 0
  return told.waitedMs + Math.max(0, since)
}

/** Milliseconds of work since the last step. */
export const workSince = ({ sinceMs, waitedMs }: Work, moment: Moment): number =>
  sinceMs === undefined ? 0 : Math.max(0, moment.nowMs - sinceMs - Math.max(0, waitedBy(moment) - waitedMs))

interface Ended {
  readonly kind: 'requests' | 'loads'
  readonly count: number
}

/** Several that ended since the last look share the time. Work before the first request opens the run, and is no step. */
export function withEnded(work: Work, { kind, count }: Ended, moment: Moment): Work {
  if (work.sinceMs === undefined && kind === 'loads') return work
  const ms = workSince(work, moment) / count
  const steps = work.sinceMs === undefined ? [] : Array.from({ length: count }, () => ms)
  const most = kind === 'loads' ? mostLoads : mostRequests
  return {
    ...work,
    [kind]: [...work[kind], ...steps].slice(-most),
    sinceMs: moment.nowMs,
    waitedMs: waitedBy(moment),
  }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

export const requestMs = ({ requests }: Work): number => mean(requests)
export const loadMs = ({ loads }: Work): number => mean(loads)
