/** `muster serve` without its command line: receives events, keeps the warehouse up to date with them, runs scheduled DAGs. */

import { eventsPerDay, isMostlyMissing, readLimit } from '../api/budget/event-share.ts'
import { defaultPerDay } from '../api/client/key.ts'
import { type Intake, openIntake } from '../events/intake.ts'
import { Room } from '../events/room.ts'
import type { InboxStore } from '../events/store.ts'
import { createVerifier, type Verification } from '../events/verify.ts'
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import { utcDay } from '../lib/dates.ts'
import { BudgetSpent } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import type { StoredEvents } from '../state/inbox/figures.ts'
import type { Waiting } from '../state/inbox/settle.ts'
import { migrate } from '../state/migrate.ts'
import { eventRequests } from '../state/requests/event-requests.ts'
import { newRunId } from '../state/runs/runs.ts'
import { apiKeyId } from '../sync/run/key.ts'
import { type RunOutcome, runSync } from '../sync/run/run.ts'
import type { RunConnection } from '../sync/run/run-connection.ts'
import { contentType } from '../telemetry/prometheus/exposition.ts'
import { createScrape } from '../telemetry/prometheus/scrape.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Counters, createCounters } from './counters.ts'
import { createEngineHandle, type EngineHandle } from './engine-handle.ts'
import { figuresOf } from './figures.ts'
import { healthOf } from './http/health.ts'
import { type ReceiverOptions, startReceiver } from './http/receiver.ts'
import { InboxWorker, type Intervals } from './inbox-worker.ts'
import { createScheduler, type Due, type ScheduledDag, type Scheduler } from './schedule.ts'

export interface ServeRequest {
  /** Name of the connection. */
  readonly name: string
  readonly connection: RunConnection
  /** Absent where nobody may deliver events: then it only runs DAGs. */
  readonly verification?: Verification
  readonly receiver: ReceiverOptions
  readonly schedule: readonly ScheduledDag[]
  readonly intervals: Intervals
  /** Settled events stay in the inbox this long. */
  readonly inboxDays: number
  /** The most events, and the most bytes of them, that are stored; beyond it senders are asked to deliver again. */
  readonly inboxBounds: StoredEvents
}

export interface ServeLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

export interface ServeEffects {
  /** Opens the warehouse to write; a file has one writer at a time. */
  readonly open: () => Promise<Engine>
  /** Called once, when the warehouse is open and its tables exist. */
  readonly openStore: (warehouse: Engine) => Promise<InboxStore>
  /** Runs a DAG to its end and returns its exit code. It opens the warehouse itself. */
  readonly runDag: (name: string) => Promise<number>
  readonly clock: Clock
  readonly rng: Rng
  /** Aborted to stop: work under way is finished, received events are kept. */
  readonly signal: AbortSignal
  readonly version: string
  readonly log: ServeLog
  readonly onReady: (ready: { readonly url: string; readonly due: readonly Due[] }) => void
}

/** Milliseconds from one line about refusals to the next, however many refusals there are. */
const newsMs = 10_000

/** Reads for events by a run like any other, paid from the part of the daily budget that is kept for events. */
function readWaiting(
  { connection }: ServeRequest,
  { clock, rng, signal, version }: ServeEffects,
): (engine: Engine, { lists, byId }: Waiting, maxRequests: number) => Promise<RunOutcome> {
  return (engine, { lists, byId }, maxRequests) => {
    // An empty list would mean every resource; the inbox worker reads only when something waits.
    const resources = [...lists, ...byId]
    return runSync(
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
  }
}

const notDrained = 'the inbox was not drained; its events are kept'

/** Requests that are left today for events, on any process that uses the key. */
async function leftForEvents({ connection }: ServeRequest, engine: Engine, clock: Clock): Promise<number> {
  const day = utcDay(new Date(clock.now()).toISOString())
  const keyId = apiKeyId(connection.apiKey)
  const { spent, perDay = defaultPerDay } = await eventRequests(engine, { keyId, day })
  return Math.max(0, eventsPerDay(perDay) - spent)
}

function byIdAmong(
  outcomes: RunOutcome['resources'],
  { byId }: Waiting,
): { readonly asked: number; readonly found: number } {
  const read = outcomes.filter(({ resource }) => byId.includes(resource))
  return {
    asked: read.reduce((sum, { requests }) => sum + requests, 0),
    found: read.reduce((sum, { records_read: found }) => sum + found, 0),
  }
}

async function keepDraining(
  worker: InboxWorker,
  request: ServeRequest,
  effects: ServeEffects,
): Promise<void> {
  const { clock, signal, log } = effects
  const { tickMs } = request.intervals
  while (!signal.aborted) {
    await sleepUnlessAborted(clock, tickMs, signal)
    if (signal.aborted) return
    try {
      await worker.tick()
    } catch (error) {
      log.warn({ why: messageOf(error) }, notDrained)
      await sleepUnlessAborted(clock, 5 * tickMs, signal)
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Parts {
  readonly handle: EngineHandle
  readonly store: InboxStore
  readonly intake: Intake
  readonly room: Room
  readonly counters: Counters
  readonly worker: InboxWorker
  readonly scheduler: Scheduler
  /** The text of `/metrics`. */
  readonly scrape: () => Promise<string>
}

function assemble(
  request: ServeRequest,
  effects: ServeEffects,
  { handle, store }: Pick<Parts, 'handle' | 'store'>,
): Parts {
  const { clock, rng, log } = effects
  const room = new Room(request.inboxBounds)
  const intake = openIntake(store.store, room)
  const read = readWaiting(request, effects)
  const counters = createCounters()
  const worker = new InboxWorker({
    handle,
    store,
    intake,
    room,
    refused: () => counters.counts().refused,
    inboxDays: request.inboxDays,
    clock,
    holder: newRunId(clock, rng),
    intervals: request.intervals,
    read: async (engine, waiting, misses) => {
      const most = readLimit(await leftForEvents(request, engine, clock), misses)
      if (most === 0) {
        log.info({ waiting: waiting.events }, 'events have used up their share of the day; the rest waits')
        return { requests: 0, remainingToday: 0, at: clock.now(), isDone: false, isMostlyMissing: false }
      }
      const { requests, assumedToday, failure, resources } = await read(engine, waiting, most)
      const isCut = failure instanceof BudgetSpent && requests >= most
      if (failure && !isCut)
        log.warn({ why: failure.message }, 'some records that events asked for were not read')
      else
        log.info({ lists: waiting.lists, records: waiting.records, requests }, 'read what events asked for')
      return {
        requests,
        remainingToday: assumedToday,
        at: clock.now(),
        isDone: failure === undefined || isCut,
        isMostlyMissing: isMostlyMissing(byIdAmong(resources, waiting)),
      }
    },
  })
  const runDag = async (dag: string): Promise<void> => {
    try {
      log.info({ dag, code: await handle.whileReleased(() => effects.runDag(dag)) }, 'a DAG has ended')
    } catch (error) {
      log.warn({ dag, why: messageOf(error) }, 'a DAG was not run')
    }
  }
  const scheduler = createScheduler(request.schedule, { clock, runDag })
  const scrape = createScrape({
    connection: request.name,
    version: effects.version,
    clock,
    use: work => handle.use(work),
    own: () => figuresOf(counters, scheduler),
  })
  return { handle, store, intake, room, counters, worker, scheduler, scrape }
}

/** One line for each kind, however many there were, so that a flood does not fill the log. */
function logNews({ counters }: Parts, log: ServeLog): void {
  const { refused, failure } = counters.news()
  for (const [why, count] of refused) log.warn({ count, why }, 'deliveries were refused')
  if (failure !== undefined)
    log.warn({ why: failure }, 'events could not be stored; their senders deliver them again')
}

/** Afterwards every received event is in the warehouse, or in the log for the next start. */
async function shutDown({ handle, store, intake, worker }: Parts, log: ServeLog): Promise<void> {
  await intake.onIdle()
  await worker.drain().catch(error => log.warn({ why: messageOf(error) }, 'the next start drains the inbox'))
  await store.close()
  await handle.close()
}

/** Resolves when the signal is aborted and every received event is stored. Throws the failure that keeps it from starting. */
export async function serve(request: ServeRequest, effects: ServeEffects): Promise<void> {
  const { clock, signal, log, version } = effects
  const startedAt = new Date(clock.now()).toISOString()
  const handle = createEngineHandle(effects.open)
  const store = await handle.use(async engine => {
    await migrate(engine, startedAt)
    return effects.openStore(engine)
  })
  const parts = assemble(request, effects, { handle, store })
  const { intake, room, counters, worker, scheduler } = parts
  try {
    const health = () =>
      healthOf({
        version,
        startedAt,
        inbox: worker.state(),
        stored: store.pending(),
        room,
        counters,
        due: scheduler.due(),
        nowMs: clock.now(),
      })
    // How much an earlier process left is known before more is taken.
    await worker.drain().catch(error => log.warn({ why: messageOf(error) }, notDrained))
    const verifier = request.verification && createVerifier(request.verification)
    const receiver = await startReceiver(request.receiver, {
      clock,
      intake,
      counters,
      health,
      metrics: async () => ({ contentType, text: await parts.scrape() }),
      ...(verifier && { verifier }),
    })
    const news = setInterval(() => logNews(parts, log), newsMs)
    const work = Promise.all([keepDraining(worker, request, effects), scheduler.run(signal)])
    effects.onReady({ url: receiver.url, due: scheduler.due() })
    await stopped(signal)
    await receiver.close()
    await work
    clearInterval(news)
    logNews(parts, log)
  } finally {
    await shutDown(parts, log)
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
