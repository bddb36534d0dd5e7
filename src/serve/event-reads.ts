/** Reads the records of events in a normal run, paid from the events' share of the daily budget. */
import { BudgetSpent } from '../lib/errors.ts'
import type { WaitingEvents } from '../state/inbox/settle.ts'
import { nextReadLimit } from '../sync/run/event-count.ts'
import { apiKeyId } from '../sync/run/key.ts'
import { type RunResult, runSync } from '../sync/run/run.ts'
import type { RunConnection, RunEffects } from '../sync/run/run-connection.ts'
import type { InboxWorkerParts } from './inbox-worker.ts'

export interface ServeLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

interface EventReadEffects extends Pick<RunEffects, 'clock' | 'rng' | 'signal' | 'version'> {
  readonly log: ServeLog
}

/** Below this many records, missing ones say nothing about the rest. */
const minToJudge = 10

/** Whether most of the requested records were not found. */
export const isMostlyMissing = ({
  asked,
  found,
}: {
  readonly asked: number
  readonly found: number
}): boolean => asked >= minToJudge && found * 2 < asked

function byIdAmong(outcomes: RunResult['resources'], { byId }: WaitingEvents) {
  const read = outcomes.filter(({ resource }) => byId.includes(resource))
  return {
    asked: read.reduce((sum, { requests }) => sum + requests, 0),
    found: read.reduce((sum, { records_read: records }) => sum + records, 0),
  }
}

export function eventReads(
  connection: RunConnection,
  { clock, rng, signal, version, log }: EventReadEffects,
): InboxWorkerParts['read'] {
  const keyId = apiKeyId(connection.apiKey)
  return async (engine, waiting, emptyReads) => {
    const maxRequests = await nextReadLimit(engine, { keyId, clock, emptyReads })
    if (maxRequests === 0) {
      log.info(
        { events: waiting.events },
        'events have used up their share of the daily budget; the rest waits',
      )
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
