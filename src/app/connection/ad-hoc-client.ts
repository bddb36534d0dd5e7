/** A client for the few requests of a command that is not a run. They are paid from the operator's reserve of the day. */
import { existsSync } from 'node:fs'
import { type Budget, createBudget } from '../../api/budget/budget.ts'
import { type Client, createClient } from '../../api/client/client.ts'
import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { type ServiceClock, serviceClock } from '../../lib/time/service-clock.ts'
import { addSent, keepsRequests, type Pause, recordPause } from '../../state/requests/key-state.ts'
import { apiKeyId } from '../../sync/run/key.ts'
import { keyFacts, ledgerBudget } from '../../sync/run/key-budget.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import type { Surroundings } from '../surroundings.ts'
import { duckdbFile, openToWrite } from './warehouse.ts'

export interface AdHocClient {
  readonly client: Client
  readonly clock: ServiceClock
  /** Milliseconds that were left of a pause that the service asked for; 0 for none. */
  readonly pausedForMs: number
  /** Closes the client, and records the requests that were sent. */
  close(): Promise<void>
}

/**
 * The limits of the key hold across processes: requests of the last minute count, a pause that the service asked for is
 * kept, and on a server all processes share one budget. All this is read from `engine`; without it from the warehouse
 * of the connection, if that can be opened.
 */
export async function openAdHocClient(
  connection: Connection,
  surroundings: Surroundings,
  engine?: Engine,
): Promise<AdHocClient> {
  const around = { ...surroundings, clock: serviceClock(surroundings.clock) }
  const ledger = await keyLedger(connection, around.clock, engine)
  try {
    return clientOver(connection, around, ledger)
  } catch (error) {
    await ledger.settle(new Map())
    throw error
  }
}

type Around = Surroundings & { readonly clock: ServiceClock }

function clientOver(connection: Connection, surroundings: Around, ledger: KeyLedger): AdHocClient {
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
 * What the ledger of the warehouse knows of the requests of the key. A file is opened for a moment before and after, so
 * that a sync need not wait for a command.
 */
interface KeyLedger {
  /** Undefined where the ledger knows nothing. */
  readonly budget: Budget | undefined
  /** Milliseconds that are left of a pause. */
  readonly pausedForMs: number
  /** Records the requests by the second in which they were sent. To be called once, after the last request. */
  settle(sent: ReadonlyMap<number, number>): Promise<void>
}

const nothing: KeyLedger = { budget: undefined, pausedForMs: 0, settle: async () => undefined }

async function keyLedger(connection: Connection, clock: ServiceClock, engine?: Engine): Promise<KeyLedger> {
  const file = duckdbFile(connection)
  const key = { apiKey: connection.apiKey.reveal(), clock }
  try {
    if (engine) return await heldBy(engine, key)
    if (file === undefined) return await ofServer(await openToWrite(connection), key)
    return existsSync(file) ? await ofFile(file, key) : nothing
  } catch (error) {
    // Another process has the file open, or the warehouse is unreachable or not for this user to write: a command
    // that only reads from the service goes on without the ledger. Bugs go up.
    if (!(error instanceof MusterError)) throw error
    return nothing
  }
}

interface KeyOf {
  readonly apiKey: string
  readonly clock: ServiceClock
}

async function heldBy(engine: Engine, key: KeyOf): Promise<KeyLedger> {
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

async function ofServer(engine: Engine, key: KeyOf): Promise<KeyLedger> {
  try {
    const ledger = await heldBy(engine, key)
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

async function ofFile(file: string, key: KeyOf): Promise<KeyLedger> {
  const facts = await inFile(file, async engine => keyFacts(engine, key))
  if (!facts) return nothing
  let told: Pause | undefined
  const onPause = (ms: number): void => {
    told = { saidAt: key.clock.machine.now(), ms }
  }
  return {
    budget: createBudget({ ...facts, clock: key.clock, onPause }),
    pausedForMs: facts.pausedForMs ?? 0,
    settle: async sent => {
      await orSkip(
        inFile(file, async engine => {
          await addSent(engine, sent)
          if (told) await recordPause(engine, apiKeyId(key.apiKey), told)
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

/** The command has its answers already: a warehouse that is busy, read-only or unreachable must not fail it. */
async function orSkip(recording: Promise<unknown>): Promise<void> {
  try {
    await recording
  } catch (error) {
    const isReadOnly = error instanceof Error && error.message.includes('read-only mode')
    if (!(error instanceof MusterError || isReadOnly)) throw error
  }
}
