/** Runs what is due, when it is due, for a process that has nobody else to run it. */
import type { Clock } from '../../lib/clock.ts'
import { nextDue } from './cron.ts'

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

/** A clock that is set anew is noticed within this time, in milliseconds. */
const longestSleep = 60_000

export interface Scheduler {
  /** What comes next of each, soonest first. */
  due(): readonly Due[]
  /** Resolves when the signal is aborted and nothing runs any more. What was missed while another ran is left out. */
  run(signal: AbortSignal): Promise<void>
}

export function createScheduler(
  dags: readonly ScheduledDag[],
  { clock, runDag }: { readonly clock: Clock; readonly runDag: (name: string) => Promise<void> },
): Scheduler {
  const next = new Map(dags.map(({ name, schedule }) => [name, nextDue(schedule, clock.now())]))
  const soonest = (): [string, number] | undefined => [...next].sort((one, other) => one[1] - other[1])[0]
  return {
    due: () =>
      [...next]
        .sort((one, other) => one[1] - other[1])
        .map(([dag, at]) => ({ dag, at: new Date(at).toISOString() })),
    async run(signal) {
      for (let first = soonest(); first && !signal.aborted; first = soonest()) {
        const [name, at] = first
        const wait = at - clock.now()
        if (wait > 0) {
          await clock.sleep(Math.min(wait, longestSleep), signal).catch(() => undefined)
          continue
        }
        await runDag(name)
        next.set(name, nextDue(dags.find(dag => dag.name === name)?.schedule ?? '', clock.now()))
      }
    },
  }
}
