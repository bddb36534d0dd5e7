/** Why a run leaves records unfetched: something came to its end, or it has had its share of the day. */
import type { Client } from '../../api/client/client.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { countDue, countSignalled, type DueQuestion, refusedIds } from '../../state/by-id/due.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { StoredChoice } from './choose-stored.ts'

interface Rest {
  /** Empty where nothing is left. */
  readonly words: string
  /** Whether records are left that the warehouse lacks, or has as they were before an event. */
  readonly isWaiting: boolean
}

/** What a run leaves of one resource. */
export async function restOf(
  engine: Engine,
  question: DueQuestion,
  choice: StoredChoice | undefined,
): Promise<Rest> {
  const { resource, onlySignalled = false } = question
  const { neverFetched, again: due } = await countDue(engine, question)
  const signalled = onlySignalled ? 0 : await countSignalled(engine, question)
  const ofEvents = onlySignalled
    ? 0
    : (await countDue(engine, { ...question, isFromEvents: true })).neverFetched
  const again = due + (choice?.worth.get(resource) ?? 0) - (choice?.chosen.get(resource)?.length ?? 0)
  const refused = onlySignalled ? [] : await refusedIds(engine, resource)
  const parts = [
    neverFetched > 0 && `${formatNumber(neverFetched)} never fetched`,
    again > 0 && `${formatNumber(again)} to fetch again`,
    signalled > 0 && `${formatNumber(signalled)} changed by events`,
    ofEvents > 0 && `${formatNumber(ofEvents)} named by events only, which have a share of the day`,
    ...refused.map(({ ids, reason }) => `${formatNumber(ids)} refused: ${reason}`),
  ]
  return { words: parts.filter(part => part !== false).join(', '), isWaiting: signalled + neverFetched > 0 }
}

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
