/** The scheduler of a process that serves: runs each DAG when its five cron fields say so, in UTC. */
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import { minuteMs } from '../lib/dates.ts'
import { nextDue } from '../lib/time/cron.ts'

export interface ScheduledDag {
  readonly name: string
  /** Five cron fields, in UTC. */
  readonly schedule: string
}

export interface Due {
  readonly dag: string
  /** ISO 8601. */
  readonly at: string
}

/** The scheduler looks again this often, in case somebody sets the clock. */
const longestSleepMs = minuteMs

export interface Scheduler {
  /** The next run of each DAG, soonest first. */
  due(): readonly Due[]
  /** Resolves when the signal is aborted and no DAG runs any more. A run that came due during another one is skipped. */
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
        // Set back, the clock would leave every DAG for as long.
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
