/** Computes when a schedule of five cron fields is next due, in UTC. */
import { Cron } from 'croner'
import { ConfigError } from './errors.ts'

const advice = 'write five cron fields, such as 30 2 * * * for 02:30 UTC every day'

/** The first due time after `afterMs`, in milliseconds since the epoch. Throws ConfigError for an invalid schedule. */
export function nextDue(schedule: string, afterMs: number): number {
  const due = nextRun(schedule, new Date(afterMs))
  if (due) return due.getTime()
  throw new ConfigError({ what: `${schedule} is not a schedule: it never comes due`, next: advice })
}

function nextRun(schedule: string, after: Date): Date | null {
  try {
    // Croner also takes dates and nicknames; its own timers are not used, so that tests can drive the clock.
    if (schedule.trim().split(/\s+/).length !== 5) throw new TypeError('a schedule has five fields')
    return new Cron(schedule.trim(), { mode: '5-part', utcOffset: 0, sloppyRanges: true }).nextRun(after)
  } catch (error) {
    // Croner throws TypeError for the syntax, and RangeError for a number out of range.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    throw new ConfigError({ what: `${schedule} is not a schedule`, next: advice, cause: error })
  }
}
