/** Why a request may not be sent, each reason in a sentence of its own: the budget of a run, its deadline, the quota of a day, a pause. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Purpose } from './day.ts'

export const runSpent = (maxRequests: number): BudgetSpent =>
  new BudgetSpent({
    what: `the budget of this run is spent, ${counted(maxRequests, 'request')}`,
    next: 'run again to go on, or raise --max-requests',
  })

export const deadlineReached = (deadline: number): BudgetSpent =>
  new BudgetSpent({
    what: `the deadline of this run, ${clockTime(deadline)}, leaves no time for another request`,
    next: 'run again to go on, or give a later --deadline',
  })

const forPurpose: Readonly<Record<Purpose, string>> = {
  sync: 'a sync',
  reconcile: 'a sweep or a crosscheck',
  webhook: 'webhook events',
  operator: 'commands',
}

/** Figures of the day, in requests. */
interface Day {
  readonly usedToday: number
  readonly perDay: number
  readonly remainingToday: number
  /** ISO 8601. */
  readonly resetsAt: string
  readonly isTold: boolean
}

export function daySpent(purpose: Purpose, usage: Day): BudgetSpent {
  const { usedToday, perDay, remainingToday, resetsAt, isTold } = usage
  const reserved = remainingToday > 0 ? `, ${formatNumber(remainingToday)} reserved for others` : ''
  return new BudgetSpent({
    what: `the quota of the day has no request left for ${forPurpose[purpose]}`,
    where: `${formatNumber(usedToday)} of ${formatNumber(perDay)} used${reserved}${isTold ? '' : ', as counted here'}`,
    next: `the service counts anew from ${clockTime(resetsAt)}; run again then`,
  })
}

/** For a pause that is longer than a run waits. */
export const toldToStop = (until: number, where?: string): BudgetSpent =>
  new BudgetSpent({
    what: `the service asks not to be called before ${clockTime(until)}`,
    ...(where !== undefined && { where }),
    next: 'run again then',
  })
