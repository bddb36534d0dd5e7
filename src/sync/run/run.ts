/**
 * Executes one run, from opening its row to closing it: reads the key's limits, syncs, archives the pages of finished
 * scans, and deletes expired pages.
 */
import pRetry from 'p-retry'
import { type Client, createClient } from '../../api/client/client.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { archive } from '../../landing/archive.ts'
import { Landing, openStore, type Scrub } from '../../landing/landing.ts'
import { expire, isAnyExpired, isPageOlder } from '../../landing/retention.ts'
import { type LandingStore, tryStore } from '../../landing/store.ts'
import { dayMs } from '../../lib/dates.ts'
import { BudgetSpent, MusterError } from '../../lib/errors.ts'
import { type ServiceClock, serviceClock } from '../../lib/service-clock.ts'
import { gateOf } from '../../privacy/fields/gate.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { requirePolicy } from '../../privacy/fields/stored-policy.ts'
import { scrubOf } from '../../privacy/scrub-landing.ts'
import { FetchedPages } from '../../state/by-id/discovered.ts'
import { waitingDrift } from '../../state/evidence/accepted-drift.ts'
import { intolerable, LimitExceeded } from '../../state/evidence/quarantine-limit.ts'
import { migrate } from '../../state/migrate.ts'
import type { KeyRequests } from '../../state/requests/key-requests.ts'
import { forgetSent, recordSent, sentWithin } from '../../state/requests/key-state.ts'
import { landingLease, releaseLease, takeLease } from '../../state/runs/leases.ts'
import { isReclaimDue } from '../../state/runs/reclaim.ts'
import { newRunId, type RunFigures, startRun, updateRun } from '../../state/runs/runs.ts'
import type { RunRow } from '../../state/runs/tables.ts'
import { finishedAmong } from '../../state/scans/scans.ts'
import { sweepResources } from '../deletions/sweep-run.ts'
import { defaultLeaseMs, now, type SyncContext } from './context.ts'
import type { EventCount } from './event-count.ts'
import { Incomplete } from './incomplete.ts'
import { apiKeyId, recordLimits } from './key.ts'
import { ledgerBudget } from './key-budget.ts'
import type { RunConnection, RunEffects, RunRequest } from './run-connection.ts'
import { failureAmong, syncResources } from './sync.ts'
import type { ResourceResult } from './task.ts'

type EndingContext = Pick<
  SyncContext,
  'engine' | 'clock' | 'landing' | 'runId' | 'sent' | 'events' | 'signal'
>

interface RunEnd {
  readonly change: Partial<RunRow>
  /** Landed pages older than this are deleted; milliseconds since the epoch. */
  readonly keepAfter: number
  /** Whether it wrote nothing but ledger rows. */
  readonly isQuiet?: boolean
}

/**
 * Scans whose pages become archives. A run leaves its own scans to the next run, because compressing pages costs a
 * third of loading them.
 */
const finishedScans = ({ engine, runId }: EndingContext, scans: Iterable<string>): Promise<string[]> =>
  finishedAmong(engine, [...scans], [runId])

/**
 * After a quiet sync, archives pages only once there are this many scans or bytes: archiving one scan costs as much as
 * archiving many. No page waits for more than a day.
 */
const fullScans = 20
const fullBytes = 16_000_000

async function isWorthArchives(ending: EndingContext): Promise<boolean> {
  const unarchived = await ending.landing.unarchived()
  const scans = await finishedScans(ending, unarchived.keys())
  const files = scans.flatMap(scan => unarchived.get(scan) ?? [])
  const isOld = files.some(({ key }) => isPageOlder(key, ending.clock.now() - dayMs))
  return isOld || scans.length >= fullScans || files.reduce((sum, { bytes }) => sum + bytes, 0) >= fullBytes
}

/** Only one process does this at a time: another process that holds the lease does the work. */
async function archivePages(ending: EndingContext, { keepAfter, isQuiet = false }: RunEnd): Promise<void> {
  const { engine, landing, runId, signal } = ending
  await landing.complete(await finishedAmong(engine, landing.begun, []))
  if (signal.aborted) return
  const finished = async (): Promise<string[]> => finishedScans(ending, await landing.scans())
  const isWorthIt = !isQuiet || (await isWorthArchives(ending))
  if (!isWorthIt && !(await isAnyExpired(landing, await finished(), keepAfter))) return
  const lease = await takeLease(engine, { resource: landingLease, holder: runId, ms: defaultLeaseMs }).catch(
    error => {
      // Another process holds the lease.
      if (!(error instanceof MusterError)) throw error
    },
  )
  if (!lease) return
  try {
    await expire(landing, await finished(), keepAfter)
    // Another process may have archived them before this one got the lease.
    const unarchived = isWorthIt ? await landing.unarchived() : new Map()
    await archive(landing, await finishedScans(ending, unarchived.keys()), signal)
  } finally {
    await releaseLease(engine, lease)
  }
}

/** A run that wrote only its own ledger rows makes them durable when the warehouse closes. */
const isUnchanged = (results: readonly RunFigures[]): boolean =>
  results.every(
    one =>
      one.rows_inserted + one.rows_changed + one.records_touched + one.rows_removed + one.quarantined === 0,
  )

/** Makes the rows durable; returns the error if that fails, since the run has then not succeeded. */
async function notLasting({ engine, clock, runId }: EndingContext): Promise<MusterError | undefined> {
  try {
    const reclaims = await isReclaimDue(engine, clock.now())
    await engine.makeLasting({ reclaims })
    if (reclaims) await updateRun(engine, runId, { reclaimed_at: now({ clock }) })
    return undefined
  } catch (error) {
    return error as MusterError
  }
}

/** A server that restarts is back within seconds: try four more times, once a second. */
const serverRestarts = { retries: 4, minTimeout: 1000, factor: 1 }

/** Returns why the end could not be recorded (the next run then does it), or why landed pages could not be archived. */
export async function recordEnd(sync: EndingContext, end: RunEnd): Promise<MusterError | undefined> {
  const { engine, clock } = sync
  const last = async (): Promise<void> => {
    await recordSent(engine, sync.sent)
    await forgetSent(engine, clock.machine.now())
    await sync.events.settle(engine)
    await updateRun(engine, sync.runId, { ...end.change, finished_at: now(sync) })
  }
  try {
    await (engine.reconnects ? pRetry(last, serverRestarts) : last())
    await archivePages(sync, end)
    return undefined
  } catch (error) {
    return error as MusterError
  }
}

export type { RunEffects, RunRequest } from './run-connection.ts'

export interface RunResult {
  readonly runId: string
  readonly resources: readonly ResourceResult[]
  readonly requests: number
  /** Undefined until the service has reported it. */
  readonly remainingToday: number | undefined
  /** The same, or an assumption until it is reported: for planning, not for display. */
  readonly assumedToday: number
  readonly milliseconds: number
  /**
   * How far the local clock is ahead of the service's; negative if behind, undefined if the service did not give its
   * time.
   */
  readonly clockAheadMs: number | undefined
  readonly peakMegabytes: number
  /** Why the run did not do everything; undefined when it did. */
  readonly failure?: MusterError
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** Undefined until the service has reported it. */
function leftToday(client: Client): number | undefined {
  const { isReported, remainingToday } = client.usage()
  return isReported ? remainingToday : undefined
}

interface OpenedService {
  readonly client: Client
  readonly shared: KeyRequests | undefined
  readonly sent: Map<number, number>
  readonly events: EventCount
}

/** The clock of a run is the service's. */
type ServiceEffects = RunEffects & { readonly clock: ServiceClock }

async function openClient(
  connection: RunConnection,
  request: RunRequest,
  effects: ServiceEffects,
): Promise<OpenedService> {
  const { engine, clock, signal } = effects
  const second = (): number => Math.floor(clock.machine.now() / 1000)
  // The previous run may have ended in this second: its requests stay counted.
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
      const { requestsThisRun: spentThisRun, perMinute, isReported } = client.usage()
      effects.onBudget({ remainingToday: leftToday(client), spentThisRun, ...(isReported && { perMinute }) })
    },
    onDate: date => clock.observe(date),
  })
  return { client, sent, shared, events }
}

function stateOf(failure: MusterError | undefined): 'done' | 'failed' | 'incomplete' | 'stopped' {
  if (!failure) return 'done'
  if (failure instanceof Incomplete || failure instanceof LimitExceeded) return 'incomplete'
  return failure instanceof BudgetSpent ? 'stopped' : 'failed'
}

/** Stopping on a signal is not a failure: the next run continues where this one stopped. */
function interrupted(signal: AbortSignal, failure: MusterError | undefined): MusterError | undefined {
  if (!signal.aborted) return failure
  return new BudgetSpent({
    what: 'stopped as asked',
    next: 'everything read so far is loaded; run again to continue',
  })
}

interface RunSession extends Pick<OpenedService, 'client' | 'shared'> {
  /** On the clock's `elapsed`. */
  readonly begunAt: number
  readonly landing: Landing
  readonly sync: Omit<SyncContext, 'key'>
}

/** Throws ConfigError if stored data follows another field policy. */
async function openGate(
  { fields = { rules: [] } }: RunConnection,
  store: LandingStore,
  { engine, clock, signal }: ServiceEffects,
): Promise<Scrub> {
  const policy = new FieldPolicy(fields)
  const landing = new Landing(store)
  await requirePolicy(engine, { policy, landing, signal, now: instant(clock.now()) })
  return gateOf(policy)
}

async function openSession(
  connection: RunConnection,
  { request, store }: { readonly request: RunRequest; readonly store: LandingStore },
  effects: ServiceEffects,
): Promise<RunSession> {
  const { engine, clock, signal, emit } = effects
  if (typeof connection.landing !== 'string' && connection.landing.bucket) await tryStore(store)
  await migrate(engine, instant(clock.now()))
  const gate = await openGate(connection, store, effects)
  const runId = newRunId(clock, effects.rng)
  const begunAt = clock.elapsed()
  const { command, arguments: words } = request
  const { client, sent, shared, events } = await openClient(connection, request, effects)
  const forget = await scrubOf(engine)
  const scrub: Scrub = (bytes, facts) => gate(forget(bytes, facts), facts)
  const landing = new Landing(store, { scrub, reserve: connection.reserveBytes ?? 0 })
  // Anything that fails before this point leaves no run that never ends.
  await startRun(engine, {
    runId,
    command,
    arguments: words,
    startedAt: instant(clock.now()),
    version: effects.version,
    tolerance: connection.tolerance,
  })
  const sync = {
    ...{ engine, client, landing, clock, runId },
    lookbackMs: connection.lookbackMinutes * 60_000,
    leaseMs: effects.leaseMs ?? defaultLeaseMs,
    recordLimits: connection.limits,
    apiKeyId: apiKeyId(connection.apiKey),
    signal,
    emit,
    ...{ sent, events, loaded: new FetchedPages() },
    ...(request.acceptsRefused && { acceptsRefused: true }),
    ...(request.maxDeletions !== undefined && { maxDeletions: request.maxDeletions }),
    ...(request.hidden !== undefined && { hidden: request.hidden }),
  }
  return { client, landing, sync, shared, begunAt }
}

/** Sorts the results: several resources are read at once, and end in any order. */
function inOrder(results: readonly ResourceResult[]): ResourceResult[] {
  const order = catalogue.map(({ name }) => name)
  return results.toSorted((one, other) => order.indexOf(one.resource) - order.indexOf(other.resource))
}

type ReadResources = Pick<RunResult, 'resources'> & { readonly failure?: MusterError | undefined }

const unpublished = 'the rest is loaded, and nothing is published until then'
const namesOf = (results: readonly ResourceResult[]): string[] => results.map(({ resource }) => resource)

async function readAll(session: RunSession, request: RunRequest): Promise<ReadResources> {
  const { client, sync } = session
  try {
    const key = await client.getMe()
    await recordLimits(session, key)
    const read = request.sweep ? sweepResources : syncResources
    const resources = inOrder(await read({ ...sync, key }, request))
    const failure =
      failureAmong(resources) ??
      (await intolerable(sync.engine, { of: namesOf(resources), meanwhile: unpublished })) ??
      (await waitingDrift(sync.engine, namesOf(resources)))
    return { resources, failure: interrupted(sync.signal, failure) }
  } catch (error) {
    return { resources: [], failure: interrupted(sync.signal, error as MusterError) }
  }
}

/** Never leaves a run without an end in the ledger, unless the process dies or the warehouse cannot be reached. */
export async function runSync(
  connection: RunConnection,
  request: RunRequest,
  effects: RunEffects,
): Promise<RunResult> {
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
  effects: ServiceEffects,
): Promise<RunResult> {
  const { clock } = effects
  const startedAt = clock.elapsed()
  const session = await openSession(connection, { request, store }, effects)
  const read = await readAll(session, request)
  const { requestsThisRun, retries, remainingToday: assumedToday } = session.client.usage()
  await session.client.close()
  await session.shared?.close()
  const isQuiet = !request.sweep && isUnchanged(read.resources)
  const ended = read.failure ?? (isQuiet ? undefined : await notLasting(session.sync))
  const unfinished = await recordEnd(session.sync, {
    change: { state: stateOf(ended), requests: requestsThisRun, retries, message: ended?.message ?? null },
    keepAfter: clock.now() - connection.retentionDays * dayMs,
    isQuiet,
  })
  // Report what went wrong first.
  const failure = ended ?? unfinished
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
