/** Runs `muster serve`: receives events, reads the records they name, and runs scheduled DAGs. */
import { type Intake, openIntake } from '../events/intake.ts'
import { Room } from '../events/room.ts'
import type { InboxStore } from '../events/store.ts'
import { createVerifier, type VerificationRules } from '../events/verify.ts'
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import type { Rng } from '../lib/rng.ts'
import { type ServiceClock, serviceClock } from '../lib/service-clock.ts'
import type { StoredEvents } from '../state/inbox/figures.ts'
import { migrate } from '../state/migrate.ts'
import { newRunId } from '../state/runs/runs.ts'
import type { RunConnection } from '../sync/run/run-connection.ts'
import { contentType, createScrape } from '../telemetry/prometheus.ts'
import type { Engine } from '../warehouse/engine.ts'
import { createCounters, type DeliveryCounters } from './counters.ts'
import { createEngineHandle, type EngineHandle } from './engine-handle.ts'
import { eventReads, type ServeLog } from './event-reads.ts'
import { figuresOf, healthOf } from './health.ts'
import { InboxWorker, type Intervals } from './inbox-worker.ts'
import { keepMeasuring } from './measure.ts'
import { type ReceiverOptions, startReceiver } from './receiver.ts'
import { createScheduler, type DueRun, type ScheduledDag, type Scheduler } from './schedule.ts'

export interface ServeRequest {
  /** Name of the connection. */
  readonly name: string
  readonly connection: RunConnection
  /** Without it no events are accepted, and only DAGs run. */
  readonly verification?: VerificationRules
  readonly receiver: ReceiverOptions
  readonly schedule: readonly ScheduledDag[]
  readonly intervals: Intervals
  /** Days that settled events stay in the inbox. */
  readonly inboxDays: number
  /** Maximum number and bytes of stored events; beyond it, senders must deliver again. */
  readonly inboxBounds: StoredEvents
}

export interface ServeEffects {
  /** Opens the warehouse for writing; a file has one writer at a time. */
  readonly open: () => Promise<Engine>
  /** Called once, when the warehouse is open and its tables exist. */
  readonly openStore: (warehouse: Engine) => Promise<InboxStore>
  /** Runs a DAG to its end and returns its exit code. It opens the warehouse itself. */
  readonly runDag: (name: string) => Promise<number>
  readonly clock: Clock
  /** Asks the service for its time and sets `clock` by it. */
  readonly measure?: (engine: Engine, clock: ServiceClock) => Promise<void>
  readonly rng: Rng
  /** Aborted to stop: work under way finishes, and received events stay stored. */
  readonly signal: AbortSignal
  readonly version: string
  readonly log: ServeLog
  readonly onReady: (ready: { readonly url: string; readonly due: readonly DueRun[] }) => void
}

/** Milliseconds between log lines about refusals, regardless of their number. */
const newsMs = 10_000

const notDrained = 'the inbox was not drained; its events stay stored'

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

interface ServeParts {
  readonly handle: EngineHandle
  readonly store: InboxStore
  readonly intake: Intake
  readonly room: Room
  readonly counters: DeliveryCounters
  readonly worker: InboxWorker
  readonly scheduler: Scheduler
  /** The text of `/metrics`. */
  readonly scrape: () => Promise<string>
}

function assemble(
  request: ServeRequest,
  effects: ServeEffects,
  { handle, store }: Pick<ServeParts, 'handle' | 'store'>,
): ServeParts {
  const { clock, rng, log } = effects
  const room = new Room(request.inboxBounds)
  const intake = openIntake(store.store, room)
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
    read: eventReads(request.connection, effects),
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

/** Logs one line per kind, so that a flood does not fill the log. */
function logNews({ counters }: ServeParts, log: ServeLog): void {
  const { refused, failure } = counters.news()
  for (const [why, count] of refused) log.warn({ count, why }, 'deliveries were refused')
  if (failure !== undefined)
    log.warn({ why: failure }, 'events could not be stored; their senders deliver them again')
}

/** Leaves every received event in the warehouse, or in the log for the next start. */
async function shutDown({ handle, store, intake, worker }: ServeParts, log: ServeLog): Promise<void> {
  await intake.onIdle()
  await worker.drain().catch(error => log.warn({ why: messageOf(error) }, 'the next start drains the inbox'))
  await store.close()
  await handle.close()
}

const keepWorking = (
  { worker, scheduler, handle }: ServeParts,
  request: ServeRequest,
  effects: ServeEffects & { readonly clock: ServiceClock },
): Promise<unknown> =>
  Promise.all([
    keepDraining(worker, request, effects),
    scheduler.run(effects.signal),
    keepMeasuring(handle, effects),
  ])

/** Resolves when the signal is aborted and every received event is stored. Throws if it cannot start. */
export async function serve(request: ServeRequest, given: ServeEffects): Promise<void> {
  // Deliveries are dated by the service's clock, like the records of syncs that they are compared with.
  const effects = { ...given, clock: serviceClock(given.clock) }
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
    // Measures what an earlier process left before accepting more.
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
    const work = keepWorking(parts, request, effects)
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
