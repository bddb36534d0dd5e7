/** One run from its first ledger row to its last: reads the key's limits, syncs, archives the pages. */

import { type Client, createClient } from '../../api/client/client.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { type Landing, openLanding } from '../../landing/folder.ts'
import { openStore } from '../../landing/open-store.ts'
import type { LandingStore } from '../../landing/store.ts'
import { dayMs } from '../../lib/dates.ts'
import { BudgetSpent, type MusterError } from '../../lib/errors.ts'
import { type ServiceClock, serviceClock } from '../../lib/time/service-clock.ts'
import { scrubOf } from '../../privacy/scrub-landing.ts'
import { FetchedPages } from '../../state/by-id/fetched-pages.ts'
import { Intolerable, intolerable } from '../../state/evidence/quarantine-limit.ts'
import { migrate } from '../../state/migrate.ts'
import type { KeyRequests } from '../../state/requests/key-requests.ts'
import { sentWithin } from '../../state/requests/key-state.ts'
import { newRunId, startRun } from '../../state/runs/runs.ts'
import { sweepResources } from '../deletions/sweep-run.ts'
import { type SyncContext, usualLeaseMs } from './context.ts'
import type { EventCount } from './event-count.ts'
import { Incomplete } from './incomplete.ts'
import { apiKeyId, recordLimits } from './key.ts'
import { ledgerBudget } from './key-budget.ts'
import type { RunConnection, RunEffects, RunRequest } from './run-connection.ts'
import { isUnchanged, notLasting, recordEnd } from './run-end.ts'
import { failureAmong, type ResourceOutcome, syncResources } from './sync.ts'

export type { RunEffects, RunRequest } from './run-connection.ts'

export interface RunOutcome {
  readonly runId: string
  readonly resources: readonly ResourceOutcome[]
  readonly requests: number
  /** Undefined where the service has not told it. */
  readonly remainingToday: number | undefined
  /** The same, assumed where it is not told: to plan with, not to show. */
  readonly assumedToday: number
  readonly milliseconds: number
  /** Of this machine, compared with the service's; negative behind it, undefined where the service did not say its time. */
  readonly clockAheadMs: number | undefined
  readonly peakMegabytes: number
  /** Why the run did not do everything; undefined when it did. */
  readonly failure?: MusterError
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** A figure that nobody told is none. */
function leftToday(client: Client): number | undefined {
  const { isTold, remainingToday } = client.usage()
  return isTold ? remainingToday : undefined
}

interface Opened {
  readonly client: Client
  readonly shared: KeyRequests | undefined
  readonly sent: Map<number, number>
  readonly events: EventCount
}

/** The clock of a run is the service's. */
type Effects = RunEffects & { readonly clock: ServiceClock }

async function openClient(connection: RunConnection, request: RunRequest, effects: Effects): Promise<Opened> {
  const { engine, clock, signal } = effects
  const second = (): number => Math.floor(clock.machine.now() / 1000)
  // The run before this one may have ended in this second: its requests stay counted.
  const begun = second()
  const sent = new Map([[begun, await sentWithin(engine, 1, begun)]])
  const { budget, shared, events } = await ledgerBudget(engine, { ...connection, clock }, request.limits)
  if (request.purpose === 'webhook') await events.reserve(engine, request.limits.maxRequests ?? 0)
  const client = createClient({
    ...connection,
    clock,
    rng: effects.rng,
    version: effects.version,
    budget,
    signal,
    patienceMs: request.limits.patienceMs,
    ...(effects.onUnreached && { onUnreached: effects.onUnreached }),
    ...(request.purpose && { purpose: request.purpose }),
    fetchOptions: { ...connection.timeouts, maxBytes: connection.pageCapBytes },
    onRequest: () => {
      sent.set(second(), (sent.get(second()) ?? 0) + 1)
      const { requestsThisRun: spentThisRun, perMinute, isTold } = client.usage()
      effects.onBudget({ remainingToday: leftToday(client), spentThisRun, ...(isTold && { perMinute }) })
    },
    onDate: date => clock.observe(date),
  })
  return { client, sent, shared, events }
}

function stateOf(failure: MusterError | undefined): 'done' | 'failed' | 'incomplete' | 'stopped' {
  if (!failure) return 'done'
  if (failure instanceof Incomplete || failure instanceof Intolerable) return 'incomplete'
  return failure instanceof BudgetSpent ? 'stopped' : 'failed'
}

/** Stopping by signal is no failure of anything: the next run goes on where this one stopped. */
function interrupted(signal: AbortSignal, failure: MusterError | undefined): MusterError | undefined {
  if (!signal.aborted) return failure
  return new BudgetSpent({
    what: 'stopped as asked',
    next: 'everything read so far is loaded; run again to go on',
  })
}

interface Session extends Pick<Opened, 'client' | 'shared'> {
  /** On the `elapsed` of the clock. */
  readonly begunAt: number
  readonly landing: Landing
  readonly sync: Omit<SyncContext, 'key'>
}

async function openSession(
  connection: RunConnection,
  { request, store }: { readonly request: RunRequest; readonly store: LandingStore },
  effects: Effects,
): Promise<Session> {
  const { engine, clock, signal, emit } = effects
  await store.tryOut()
  await migrate(engine, instant(clock.now()))
  const runId = newRunId(clock, effects.rng)
  const begunAt = clock.elapsed()
  const { command, arguments: words } = request
  await startRun(engine, {
    runId,
    command,
    arguments: words,
    startedAt: instant(clock.now()),
    version: effects.version,
    tolerance: connection.tolerance,
  })
  const { client, sent, shared, events } = await openClient(connection, request, effects)
  const landing = openLanding(store, {
    scrub: await scrubOf(engine),
    reserve: connection.reserveBytes ?? 0,
  })
  const sync = {
    ...{ engine, client, landing, clock, runId },
    lookbackMs: connection.lookbackMinutes * 60_000,
    leaseMs: effects.leaseMs ?? usualLeaseMs,
    recordLimits: connection.limits,
    apiKeyId: apiKeyId(connection.apiKey),
    signal,
    emit,
    ...{ sent, events, loaded: new FetchedPages() },
    ...(request.acceptsRefused && { acceptsRefused: true }),
    ...(request.most !== undefined && { most: request.most }),
  }
  return { client, landing, sync, shared, begunAt }
}

/** Several are read at once and end in any order. */
function inOrder(outcomes: readonly ResourceOutcome[]): ResourceOutcome[] {
  const order = catalogue.map(({ name }) => name)
  return outcomes.toSorted((one, other) => order.indexOf(one.resource) - order.indexOf(other.resource))
}

type Read = Pick<RunOutcome, 'resources'> & { readonly failure?: MusterError | undefined }

const unpublished = 'the rest is loaded, and nothing is published until then'
const namesOf = (outcomes: readonly ResourceOutcome[]): string[] => outcomes.map(({ resource }) => resource)

async function readAll(session: Session, request: RunRequest): Promise<Read> {
  const { client, sync } = session
  try {
    const key = await client.getMe()
    await recordLimits(session, key)
    const read = request.sweep ? sweepResources : syncResources
    const resources = inOrder(await read({ ...sync, key }, request))
    const failure =
      failureAmong(resources) ??
      (await intolerable(sync.engine, { of: namesOf(resources), meanwhile: unpublished }))
    return { resources, failure: interrupted(sync.signal, failure) }
  } catch (error) {
    return { resources: [], failure: interrupted(sync.signal, error as MusterError) }
  }
}

/** Never leaves a run without an end in the ledger, unless the process dies or the warehouse is out of reach. */
export async function runSync(
  connection: RunConnection,
  request: RunRequest,
  effects: RunEffects,
): Promise<RunOutcome> {
  const store = openStore(connection.landing, effects.signal)
  const clock = serviceClock(effects.clock)
  clock.begin()
  try {
    return await runWith(connection, { request, store }, { ...effects, clock })
  } finally {
    store.close()
  }
}

async function runWith(
  connection: RunConnection,
  { request, store }: { readonly request: RunRequest; readonly store: LandingStore },
  effects: Effects,
): Promise<RunOutcome> {
  const { clock } = effects
  const startedAt = clock.elapsed()
  const session = await openSession(connection, { request, store }, effects)
  const read = await readAll(session, request)
  const { requestsThisRun, retries, remainingToday: assumedToday } = session.client.usage()
  await session.client.close()
  await session.shared?.close()
  const isQuiet = !request.sweep && isUnchanged(read.resources)
  const ended = read.failure ?? (isQuiet ? undefined : await notLasting(session.sync))
  const unrecorded = await recordEnd(session.sync, {
    change: { state: stateOf(ended), requests: requestsThisRun, retries, message: ended?.message ?? null },
    keepAfter: clock.now() - connection.retentionDays * dayMs,
    isQuiet,
  })
  // What went wrong first tells more than that it could not be written down.
  const failure = ended ?? unrecorded
  const figures = {
    requests: requestsThisRun,
    remainingToday: leftToday(session.client),
    assumedToday,
    milliseconds: clock.elapsed() - startedAt,
    peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    clockAheadMs: clock.aheadMs,
  }
  return { runId: session.sync.runId, resources: read.resources, ...figures, ...(failure && { failure }) }
}
