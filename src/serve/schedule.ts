/** The scheduler of a process that serves: runs each DAG when its five cron fields say so, in UTC. */
import { Cron } from 'croner'
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import { minuteMs } from '../lib/dates.ts'
import { ConfigError } from '../lib/errors.ts'

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

/** The first moment after `afterMs`, in milliseconds since the epoch. Throws ConfigError for an invalid schedule. */
export function nextDue(schedule: string, afterMs: number): number {
  const due = nextRun(schedule, new Date(afterMs))
  if (due) return due.getTime()
  throw new ConfigError({ what: `${schedule} is not a schedule: it never comes due`, next: advice })
}

const advice = 'write five cron fields, such as 30 2 * * * for 02:30 UTC every day'

function nextRun(schedule: string, after: Date): Date | null {
  try {
    // Croner also takes dates and nicknames; its own timers are not used, so that tests can drive the clock.
    if (schedule.trim().split(/\s+/).length !== 5) throw new TypeError('a schedule has five fields')
    return new Cron(schedule.trim(), { mode: '5-part', utcOffset: 0, sloppyRanges: true }).nextRun(after)
  } catch (error) {
    // Both come from reading the pattern: TypeError for its syntax, RangeError for a number out of range.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    throw new ConfigError({ what: `${schedule} is not a schedule`, next: advice, cause: error })
  }
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
        const wait = first.at - clock.now()
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
