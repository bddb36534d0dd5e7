/** Builds the errors for requests that may not be sent: run budget, deadline, quota of the day, or retry-after. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Purpose } from './day.ts'

export const runSpent = (maxRequests: number): BudgetSpent =>
  new BudgetSpent({
    what: `the budget of this run is used up, ${counted(maxRequests, 'request')}`,
    next: 'run again to continue, or raise --max-requests',
  })

export const deadlineReached = (deadline: number): BudgetSpent =>
  new BudgetSpent({
    what: `the deadline of this run, ${clockTime(deadline)}, leaves no time for another request`,
    next: 'run again to continue, or give a later --deadline',
  })

const forPurpose: Readonly<Record<Purpose, string>> = {
  sync: 'a sync',
  reconcile: 'a sweep or a crosscheck',
  webhook: 'webhook events',
  operator: 'commands',
}

/** Figures of the day, in requests. */
interface SpentDay {
  readonly usedToday: number
  readonly perDay: number
  readonly remainingToday: number
  /** ISO 8601. */
  readonly resetsAt: string
  readonly isReported: boolean
}

export function daySpent(purpose: Purpose, usage: SpentDay): BudgetSpent {
  const { usedToday, perDay, remainingToday, resetsAt, isReported } = usage
  const reserved = remainingToday > 0 ? `, ${formatNumber(remainingToday)} reserved for others` : ''
  return new BudgetSpent({
    what: `the quota of the day has no request left for ${forPurpose[purpose]}`,
    where: `${formatNumber(usedToday)} of ${formatNumber(perDay)} used${reserved}${isReported ? '' : ', as counted here'}`,
    next: `the service starts a new count at ${clockTime(resetsAt)}; run again then`,
  })
}

/** For a retry-after that is longer than a run waits. */
export const retryLaterError = (until: number, where?: string): BudgetSpent =>
  new BudgetSpent({
    what: `the service asks not to be called before ${clockTime(until)}`,
    ...(where !== undefined && { where }),
    next: 'run again then',
  })
