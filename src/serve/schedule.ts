/** Schedules DAGs in `muster serve`: runs each one when its five cron fields are due, in UTC. */
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import { nextDue } from '../lib/cron.ts'
import { minuteMs } from '../lib/dates.ts'

export interface ScheduledDag {
  readonly name: string
  /** Five cron fields, in UTC. */
  readonly schedule: string
}

export interface DueRun {
  readonly dag: string
  /** ISO 8601. */
  readonly at: string
}

/** Longest sleep, in case the clock is set meanwhile. */
const longestSleepMs = minuteMs

export interface Scheduler {
  /** The next run of each DAG, soonest first. */
  due(): readonly DueRun[]
  /** Resolves when the signal is aborted and no DAG is running. Skips runs that come due during another one. */
  run(signal: AbortSignal): Promise<void>
}

export function createScheduler(
  dags: readonly ScheduledDag[],
  { clock, runDag }: { readonly clock: Clock; readonly runDag: (name: string) => Promise<void> },
): Scheduler {
  const next = dags.map(dag => ({ ...dag, at: nextDue(dag.schedule, clock.now()) }))
  const soonestFirst = () => next.toSorted((one, other) => one.at - other.at)
  return {
    due: () => soonestFirst().map(({ name, at }) => ({ dag: name, at: new Date(at).toISOString() })),
    async run(signal) {
      for (let [first] = soonestFirst(); first && !signal.aborted; [first] = soonestFirst()) {
        const now = clock.now()
        // A clock set back would delay every DAG by as much.
        for (const dag of next) dag.at = Math.min(dag.at, nextDue(dag.schedule, now))
        const wait = first.at - now
        if (wait > 0) {
          await sleepUnlessAborted(clock, Math.min(wait, longestSleepMs), signal)
          continue
        }
        await runDag(first.name)
        first.at = nextDue(first.schedule, clock.now())
      }
    },
  }
}
