/** Reads for events by a run like any other, paid from the part of the daily budget that is for events. */
import { BudgetSpent } from '../lib/errors.ts'
import type { Waiting } from '../state/inbox/settle.ts'
import { nextReadLimit } from '../sync/run/event-count.ts'
import { apiKeyId } from '../sync/run/key.ts'
import { type RunOutcome, runSync } from '../sync/run/run.ts'
import type { RunConnection, RunEffects } from '../sync/run/run-connection.ts'
import type { InboxWorkerParts } from './inbox-worker.ts'

export interface ServeLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

interface Effects extends Pick<RunEffects, 'clock' | 'rng' | 'signal' | 'version'> {
  readonly log: ServeLog
}

/** A few records say nothing of the rest. */
const leastToJudge = 10

/** Whether most records that a read asked for were not there. */
export const isMostlyMissing = ({
  asked,
  found,
}: {
  readonly asked: number
  readonly found: number
}): boolean => asked >= leastToJudge && found * 2 < asked

function byIdAmong(outcomes: RunOutcome['resources'], { byId }: Waiting) {
  const read = outcomes.filter(({ resource }) => byId.includes(resource))
  return {
    asked: read.reduce((sum, { requests }) => sum + requests, 0),
    found: read.reduce((sum, { records_read: records }) => sum + records, 0),
  }
}

export function eventReads(
  connection: RunConnection,
  { clock, rng, signal, version, log }: Effects,
): InboxWorkerParts['read'] {
  const keyId = apiKeyId(connection.apiKey)
  return async (engine, waiting, emptyReads) => {
    const maxRequests = await nextReadLimit(engine, { keyId, clock, emptyReads })
    if (maxRequests === 0) {
      log.info({ events: waiting.events }, 'events have used up their share of the day; the rest waits')
      return { requests: 0, remainingToday: 0, at: clock.now(), isDone: false, isMostlyMissing: false }
    }
    // An empty list would mean every resource; the inbox worker reads only when something waits.
    const resources = [...waiting.lists, ...waiting.byId]
    const { requests, assumedToday, failure, ...read } = await runSync(
      connection,
      {
        command: 'serve',
        arguments: resources.join(' '),
        resources,
        onlySignalled: true,
        purpose: 'webhook',
        limits: { maxRequests },
      },
      { engine, clock, rng, signal, version, emit: () => undefined, onBudget: () => undefined },
    )
    const isDone = failure === undefined || (failure instanceof BudgetSpent && requests >= maxRequests)
    const { lists, records } = waiting
    if (isDone) log.info({ lists, records, requests }, 'read what events asked for')
    else log.warn({ why: failure?.message }, 'some records that events asked for were not read')
    return {
      ...{ requests, isDone, remainingToday: assumedToday, at: clock.now() },
      isMostlyMissing: isMostlyMissing(byIdAmong(read.resources, waiting)),
    }
  }
}
