/** Why a run leaves records unfetched: something came to its end, or it has had its share of the day. */
import type { Client } from '../../api/client/client.ts'
import { counted } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'

/** `rest` says what is left; `reason` is the budget, the deadline, the quota or a pause, if it was one of them. */
export function outOfRequests(client: Client, rest: string, reason: BudgetSpent | undefined): BudgetSpent {
  if (reason)
    return new BudgetSpent({ ...reason.report, what: `${rest}, as ${reason.report.what}`, cause: reason })
  const { spendable, resetsAt } = client.usage()
  return new BudgetSpent({
    what: `${rest}, as the other ${counted(spendable, 'request')} of today are kept for the lists of later runs`,
    next: `everything read so far is loaded; the next run goes on, at the latest after ${clockTime(resetsAt)}`,
  })
}
