/** A client for the few requests of a command that is no run: they pay from the operator's part of the day. */
import { type Budget, createBudget } from '../../api/budget/budget.ts'
import { type Client, createClient } from '../../api/client/client.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Connection } from '../../config/connection.ts'
import { programVersion } from '../../lib/program-version.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type KeyLedger, keyLedger } from './key-ledger.ts'

export interface Questions {
  readonly client: Client
  /** Closes the client, and writes down what was sent. */
  close(): Promise<void>
}

/**
 * The limits of the key hold across processes: requests of the last minute count, told pauses are kept to, and on a
 * server all share one budget. Without `engine` the warehouse of the connection is looked at, if it can be.
 */
export async function openQuestions(
  connection: Connection,
  context: CommandContext,
  engine?: Engine,
): Promise<Questions> {
  const ledger = await keyLedger(connection, context.clock, engine)
  try {
    return clientOver(connection, context, ledger)
  } catch (error) {
    await ledger.settle(new Map())
    throw error
  }
}

function clientOver(connection: Connection, context: CommandContext, ledger: KeyLedger): Questions {
  const { clock, rng, signal } = context
  const second = (): number => Math.floor(clock.now() / 1000)
  const sent = new Map<number, number>()
  const budget: Budget = ledger.budget ?? createBudget({ clock })
  const client = createClient({
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    clock,
    rng,
    signal,
    version: programVersion,
    budget,
    fetchOptions: { maxBytes: connection.pageCapMegabytes * 1_048_576 },
    onRequest: () => void sent.set(second(), (sent.get(second()) ?? 0) + 1),
  })
  return {
    client,
    close: async () => {
      await client.close()
      await ledger.settle(sent)
    },
  }
}
