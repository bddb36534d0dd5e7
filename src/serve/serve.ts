/** `muster serve` without its command line: receives events, keeps the warehouse up with them, runs what is due. */

import { type Intake, openIntake } from '../events/intake.ts'
import type { Waiting } from '../events/settle.ts'
import type { InboxStore } from '../events/store.ts'
import { createVerifier, type Verification } from '../events/verify.ts'
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import type { Rng } from '../lib/rng.ts'
import { migrate } from '../state/migrate.ts'
import { newRunId } from '../state/runs/run-id.ts'
import { type RunConnection, type RunOutcome, runSync } from '../sync/run/run.ts'
import type { Engine } from '../warehouse/engine.ts'
import { createTally, type Tally } from './counters.ts'
import { createDoor, type Door } from './engine-handle.ts'
import { healthOf } from './http/health.ts'
import { type ReceiverOptions, startReceiver } from './http/receiver.ts'
import { createUpkeep, type Rhythm, type Upkeep } from './inbox-worker.ts'
import { createScheduler, type Due, type ScheduledDag, type Scheduler } from './schedule.ts'

export interface ServeRequest {
  readonly connection: RunConnection
  readonly verification: Verification
  readonly receiver: ReceiverOptions
  readonly schedule: readonly ScheduledDag[]
  readonly rhythm: Rhythm
}

export interface ServeLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

export interface ServeEffects {
  /** A writer of the warehouse; of a file the only one. */
  readonly open: () => Promise<Engine>
  /** Called once, when the warehouse is open and its tables are there. */
  readonly openStore: (warehouse: Engine) => Promise<InboxStore>
  /** Runs a DAG to its end and returns its exit code; of a file, with nobody else writing to it. */
  readonly runDag: (name: string) => Promise<number>
  readonly clock: Clock
  readonly rng: Rng
  /** Aborted to stop: what was begun is ended, what was received is kept. */
  readonly signal: AbortSignal
  readonly version: string
  readonly log: ServeLog
  readonly onReady: (ready: { readonly url: string; readonly due: readonly Due[] }) => void
}

/** Milliseconds from one line about refusals to the next, however many there are. */
const newsMs = 10_000

/** What waits is read by a run like any other, paid from the part of the day that is kept for events. */
function readWaiting(
  { connection }: ServeRequest,
  { clock, rng, signal, version }: ServeEffects,
): (engine: Engine, waiting: Waiting) => Promise<RunOutcome> {
  return (engine, { lists, byId }) => {
    // No name would mean all of them: upkeep asks only when something waits.
    const resources = [...lists, ...byId]
    return runSync(
      connection,
      {
        command: 'serve',
        arguments: resources.join(' '),
        resources,
        onlySignalled: true,
        purpose: 'webhook',
        limits: {},
      },
      { engine, clock, rng, signal, version, emit: () => undefined, onBudget: () => undefined },
    )
  }
}

async function keepUp(upkeep: Upkeep, request: ServeRequest, effects: ServeEffects): Promise<void> {
  const { clock, signal, log } = effects
  while (!signal.aborted) {
    await sleepUnlessAborted(clock, request.rhythm.tickMs, signal)
    if (signal.aborted) return
    try {
      await upkeep.tick()
    } catch (error) {
      log.warn({ why: messageOf(error) }, 'the inbox was not drained; its events are kept')
      await sleepUnlessAborted(clock, 5 * request.rhythm.tickMs, signal)
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Parts {
  readonly door: Door
  readonly store: InboxStore
  readonly intake: Intake
  readonly tally: Tally
  readonly upkeep: Upkeep
  readonly scheduler: Scheduler
}

function assemble(
  request: ServeRequest,
  effects: ServeEffects,
  { door, store }: Pick<Parts, 'door' | 'store'>,
): Parts {
  const { clock, rng, log } = effects
  const intake = openIntake(store.store)
  const read = readWaiting(request, effects)
  const tally = createTally()
  const upkeep = createUpkeep({
    door,
    store,
    intake,
    refused: () => tally.counts().refused,
    clock,
    holder: newRunId(clock, rng),
    rhythm: request.rhythm,
    read: async (engine, waiting) => {
      const { requests, remainingToday, failure } = await read(engine, waiting)
      if (failure) log.warn({ why: failure.message }, 'not everything that events asked for was read')
      else
        log.info({ lists: waiting.lists, records: waiting.records, requests }, 'read what events asked for')
      return { requests, remainingToday, at: clock.now(), isDone: failure === undefined }
    },
  })
  const runDag = async (dag: string): Promise<void> => {
    try {
      log.info({ dag, code: await door.away(() => effects.runDag(dag)) }, 'a DAG has ended')
    } catch (error) {
      log.warn({ dag, why: messageOf(error) }, 'a DAG was not run')
    }
  }
  const scheduler = createScheduler(request.schedule, { clock, runDag })
  return { door, store, intake, tally, upkeep, scheduler }
}

/** One line a kind, however many there were: a flood must not fill the log. */
function tellNews({ tally }: Parts, log: ServeLog): void {
  const { refused, failure } = tally.news()
  for (const [why, count] of refused) log.warn({ count, why }, 'deliveries were refused')
  if (failure !== undefined) log.warn({ why: failure }, 'events could not be stored; their senders try again')
}

/** What was received is in the warehouse, or in the log for the next start. */
async function leave({ door, store, intake, upkeep }: Parts, log: ServeLog): Promise<void> {
  await intake.onIdle()
  await upkeep
    .drain()
    .catch(error => log.warn({ why: messageOf(error) }, 'the inbox is drained by the next start'))
  await store.close()
  await door.close()
}

/** Resolves when the signal is aborted and everything that was received is stored. Throws what keeps it from starting. */
export async function serve(request: ServeRequest, effects: ServeEffects): Promise<void> {
  const { clock, signal, log, version } = effects
  const startedAt = new Date(clock.now()).toISOString()
  const door = createDoor(effects.open)
  const store = await door.use(async engine => {
    await migrate(engine, startedAt)
    return effects.openStore(engine)
  })
  const parts = assemble(request, effects, { door, store })
  const { intake, tally, upkeep, scheduler } = parts
  try {
    const health = () =>
      healthOf({
        version,
        startedAt,
        upkeep: upkeep.state(),
        stored: store.pending(),
        tally,
        due: scheduler.due(),
        nowMs: clock.now(),
      })
    const verifier = createVerifier(request.verification)
    const receiver = await startReceiver(request.receiver, { clock, intake, verifier, tally, health })
    const news = setInterval(() => tellNews(parts, log), newsMs)
    const work = Promise.all([keepUp(upkeep, request, effects), scheduler.run(signal)])
    effects.onReady({ url: receiver.url, due: scheduler.due() })
    await stopped(signal)
    await receiver.close()
    await work
    clearInterval(news)
    tellNews(parts, log)
  } finally {
    await leave(parts, log)
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
