/** Opens a client for commands that send a few requests outside of a run, paid from the operator's daily reserve. */
import { existsSync } from 'node:fs'
import { type Budget, createBudget } from '../../api/budget/budget.ts'
import { type Client, createClient } from '../../api/client/client.ts'
import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { type ServiceClock, serviceClock } from '../../lib/service-clock.ts'
import { addSent, keepsRequests, type RetryAfter, recordPause } from '../../state/requests/key-state.ts'
import { apiKeyId } from '../../sync/run/key.ts'
import { keyFacts, ledgerBudget } from '../../sync/run/key-budget.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import { duckdbFile } from './storage.ts'
import { openToWrite } from './warehouse.ts'

export interface AdHocClient {
  readonly client: Client
  readonly clock: ServiceClock
  /** Milliseconds left of a pause that the service asked for; 0 for none. */
  readonly pausedForMs: number
  /** Closes the client, and records the requests that were sent. */
  close(): Promise<void>
}

/**
 * Applies the key's limits across processes: counts requests of the last minute, respects a pause that the service asked for,
 * and on a server shares one budget. Reads this from `engine` or, without it, from the connection's warehouse if it opens.
 */
export async function openAdHocClient(
  connection: Connection,
  surroundings: RuntimeContext,
  engine?: Engine,
): Promise<AdHocClient> {
  const clientContext = { ...surroundings, clock: serviceClock(surroundings.clock) }
  const ledger = await keyLedger(connection, clientContext.clock, engine)
  try {
    return clientOver(connection, clientContext, ledger)
  } catch (error) {
    await ledger.settle(new Map())
    throw error
  }
}

type AdHocContext = RuntimeContext & { readonly clock: ServiceClock }

function clientOver(connection: Connection, surroundings: AdHocContext, ledger: KeyLedger): AdHocClient {
  const { clock, rng, signal } = surroundings
  const second = (): number => Math.floor(clock.machine.now() / 1000)
  const sent = new Map<number, number>()
  const budget: Budget = ledger.budget ?? createBudget({ clock })
  const client = createClient({
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    proxies: connection.proxies,
    clock,
    rng,
    signal,
    version: programVersion,
    budget,
    patienceMs: surroundings.waitMs?.(),
    fetchOptions: { maxBytes: connection.pageCapMegabytes * 1_048_576 },
    onDate: date => clock.observe(date),
    onRequest: () => void sent.set(second(), (sent.get(second()) ?? 0) + 1),
  })
  return {
    client,
    clock,
    pausedForMs: ledger.pausedForMs,
    close: async () => {
      await client.close()
      await ledger.settle(sent)
    },
  }
}

/**
 * The ledger's record of the key's requests. A file is opened only briefly before and after the requests, so that a sync does
 * not wait for a command.
 */
interface KeyLedger {
  /** Undefined without a ledger. */
  readonly budget: Budget | undefined
  /** Milliseconds left of a pause. */
  readonly pausedForMs: number
  /** Records the requests by the second in which they were sent. Call once, after the last request. */
  settle(sent: ReadonlyMap<number, number>): Promise<void>
}

const nothing: KeyLedger = { budget: undefined, pausedForMs: 0, settle: async () => undefined }

async function keyLedger(connection: Connection, clock: ServiceClock, engine?: Engine): Promise<KeyLedger> {
  const file = duckdbFile(connection)
  const key = { apiKey: connection.apiKey.reveal(), clock }
  try {
    if (engine) return await openKeyLedger(engine, key)
    if (file === undefined) return await ofServer(await openToWrite(connection), key)
    return existsSync(file) ? await ofFile(file, key) : nothing
  } catch (error) {
    // The file is locked, or the warehouse is unreachable or read-only for this user: a command that only reads from the
    // service works without the ledger. Bugs are thrown.
    if (!(error instanceof MusterError)) throw error
    return nothing
  }
}

interface KeyOwner {
  readonly apiKey: string
  readonly clock: ServiceClock
}

async function openKeyLedger(engine: Engine, key: KeyOwner): Promise<KeyLedger> {
  if (!(await keepsRequests(engine))) return nothing
  const { budget, shared, pausedForMs } = await ledgerBudget(engine, key)
  return {
    budget,
    pausedForMs,
    settle: async sent => {
      await shared?.close()
      await orSkip(addSent(engine, sent))
    },
  }
}

async function ofServer(engine: Engine, key: KeyOwner): Promise<KeyLedger> {
  try {
    const ledger = await openKeyLedger(engine, key)
    return {
      ...ledger,
      settle: async sent => {
        await ledger.settle(sent)
        await engine.close()
      },
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function ofFile(file: string, key: KeyOwner): Promise<KeyLedger> {
  const facts = await inFile(file, async engine => keyFacts(engine, key))
  if (!facts) return nothing
  let retryAfter: RetryAfter | undefined
  const onPause = (ms: number): void => {
    retryAfter = { saidAt: key.clock.machine.now(), ms }
  }
  return {
    budget: createBudget({ ...facts, clock: key.clock, onPause }),
    pausedForMs: facts.pausedForMs ?? 0,
    settle: async sent => {
      await orSkip(
        inFile(file, async engine => {
          await addSent(engine, sent)
          if (retryAfter) await recordPause(engine, apiKeyId(key.apiKey), retryAfter)
        }),
      )
    },
  }
}

async function inFile<Result>(
  file: string,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result | undefined> {
  const engine = await openDuckdb(file)
  try {
    return (await keepsRequests(engine)) ? await work(engine) : undefined
  } finally {
    await engine.close()
  }
}

/** Ignores a busy, read-only or unreachable warehouse: the command has its answers already. */
async function orSkip(recording: Promise<unknown>): Promise<void> {
  try {
    await recording
  } catch (error) {
    const isReadOnly = error instanceof Error && error.message.includes('read-only mode')
    if (!(error instanceof MusterError || isReadOnly)) throw error
  }
}
