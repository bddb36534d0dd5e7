/** Checks of time: whether the clock of this machine agrees with the service's, and whether the service asked for a pause. */

import { formatSpan } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { isApart, type ServiceClock } from '../../lib/time/service-clock.ts'
import { type Finding, ok, warn } from './finding.ts'

/** What is said of a clock that is wrong, in one sentence; undefined where it is right or was not measured. */
export function clockApart(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || !isApart(aheadMs)) return undefined
  return `the clock of this machine is ${formatSpan(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's`
}

export function clockFinding({ aheadMs }: Pick<ServiceClock, 'aheadMs'>): Finding {
  const apart = clockApart(aheadMs)
  if (apart !== undefined)
    return warn(
      'clock',
      apart,
      'set it right and keep it so with NTP; records are dated by the service until then',
    )
  if (aheadMs !== undefined) return ok('clock', "it agrees with the service's within a minute")
  return warn(
    'clock',
    'the service sends no usable time with its answers',
    'keep the clock of this machine right with NTP; scans read a lookback more than they would have to',
  )
}

/** Undefined where no pause is under way; `now` is the time of this machine. */
export function pauseFinding(leftMs: number, now: number): Finding | undefined {
  if (leftMs <= 0) return undefined
  const until = clockTime(now + leftMs)
  return warn('pause', `the service asked for no request until ${until}`, 'run again then; it ends by itself')
}
