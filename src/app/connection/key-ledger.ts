/**
 * What the ledger of a warehouse knows of the key's requests, for commands that are no run. A file is opened for a
 * moment before and after, so that a sync need not wait for a command; while another process holds it, or when the
 * warehouse is out of reach or not for this user to write, the command goes on with what it knows by itself.
 */
import { existsSync } from 'node:fs'
import { type Budget, createBudget } from '../../api/budget/budget.ts'
import type { Connection } from '../../config/connection.ts'
import type { Clock } from '../../lib/clock.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { addSent } from '../../state/requests/access.ts'
import { recordPause } from '../../state/requests/pause.ts'
import { apiKeyId } from '../../sync/run/key.ts'
import { keyFacts, ledgerBudget } from '../../sync/run/key-budget.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { duckdbFile, openToWrite } from './warehouse.ts'

export interface KeyLedger {
  /** Undefined where nothing is known. */
  readonly budget: Budget | undefined
  /** Writes down requests by the second they were sent in; to be called once, when nothing is sent any more. */
  settle(sent: ReadonlyMap<number, number>): Promise<void>
}

const nothing: KeyLedger = { budget: undefined, settle: async () => undefined }

export async function keyLedger(connection: Connection, clock: Clock, engine?: Engine): Promise<KeyLedger> {
  const file = duckdbFile(connection)
  const key = { apiKey: connection.apiKey.reveal(), clock }
  try {
    if (engine) return await heldBy(engine, key)
    if (file === undefined) return await ofServer(await openToWrite(connection), key)
    return existsSync(file) ? await ofFile(file, key) : nothing
  } catch {
    return nothing
  }
}

interface KeyOf {
  readonly apiKey: string
  readonly clock: Clock
}

/** A ledger of before the first sync, or of an earlier program, is not asked. */
async function isComplete(engine: Engine): Promise<boolean> {
  const held = await existingTables(engine)
  return ['sent', 'pause', 'api_usage', 'request_budget'].every(name => held.has(name))
}

async function heldBy(engine: Engine, key: KeyOf): Promise<KeyLedger> {
  if (!(await isComplete(engine))) return nothing
  const { budget, shared } = await ledgerBudget(engine, key)
  return {
    budget,
    settle: async sent => {
      await shared?.close()
      // A copy to read from takes no rows.
      await addSent(engine, sent).catch(() => undefined)
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
  let told = 0
  const onPause = (until: number): void => {
    told = until
  }
  return {
    budget: createBudget({ ...facts, clock: key.clock, onPause }),
    settle: async sent => {
      await inFile(file, async engine => {
        await addSent(engine, sent)
        if (told > 0) await recordPause(engine, apiKeyId(key.apiKey), told)
      }).catch(() => undefined)
    },
  }
}

async function inFile<Result>(
  file: string,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result | undefined> {
  const engine = await openDuckdb(file)
  try {
    return (await isComplete(engine)) ? await work(engine) : undefined
  } finally {
    await engine.close()
  }
}
