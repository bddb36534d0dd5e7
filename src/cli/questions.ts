/** A client for the few requests that plan and doctor send: they pay from the operator's part of the day. */
import { createBudget } from '../api/budget.ts'
import { type Client, createClient } from '../api/client.ts'
import type { Connection } from '../config/connection.ts'
import type { Engine } from '../warehouse/engine.ts'
import { sentSince } from '../warehouse/ledger/access.ts'
import { heldTables } from '../warehouse/ledger/held-tables.ts'
import type { CommandContext } from './context.ts'
import { programVersion } from './warehouse.ts'

export interface Questions {
  readonly client: Client
  /** Requests by the second they were sent in, for the ledger. */
  readonly sent: ReadonlyMap<number, number>
}

/** With the ledger at hand, requests of the last minute count, so that the key's limit holds across processes. */
export async function openQuestions(
  connection: Connection,
  context: CommandContext,
  engine: Engine | undefined,
): Promise<Questions> {
  const { clock, rng, signal } = context
  const second = (): number => Math.floor(clock.now() / 1000)
  const sent = new Map<number, number>()
  const knowsSent = engine !== undefined && (await heldTables(engine)).has('sent')
  const client = createClient({
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    clock,
    rng,
    signal,
    version: programVersion,
    budget: createBudget({
      clock,
      recentRequests: knowsSent ? await sentSince(engine, second() - 62) : 0,
    }),
    fetchOptions: { maxBytes: connection.pageCapMegabytes * 1_048_576 },
    onRequest: () => void sent.set(second(), (sent.get(second()) ?? 0) + 1),
  })
  return { client, sent }
}
