/** The budget of a key as the ledger knows it: what earlier processes sent, and until when the service told them to wait. */
import { type Budget, type BudgetOptions, createBudget } from '../../api/budget/budget.ts'
import type { Clock } from '../../lib/clock.ts'
import { knownPerMinute, sentSince } from '../../state/requests/access.ts'
import type { KeyRequests } from '../../state/requests/key-requests.ts'
import { pausedUntil, recordPause } from '../../state/requests/pause.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { apiKeyId } from './key.ts'
import { sharedRequests } from './shared-requests.ts'

interface KeyOf {
  readonly apiKey: string
  readonly clock: Clock
}

export type KeyFacts = Pick<BudgetOptions, 'recentRequests' | 'perMinute' | 'pausedUntil'>

/** A rolling minute, and a second for either end of it. */
const RECENT_SECONDS = 62

export async function keyFacts(engine: Engine, { apiKey, clock }: KeyOf): Promise<KeyFacts> {
  const keyId = apiKeyId(apiKey)
  return {
    recentRequests: await sentSince(engine, Math.floor(clock.now() / 1000) - RECENT_SECONDS),
    perMinute: await knownPerMinute(engine, keyId),
    pausedUntil: await pausedUntil(engine, keyId),
  }
}

interface LedgerBudget {
  readonly budget: Budget
  /** To be closed when nothing is sent any more; undefined for a file. */
  readonly shared: KeyRequests | undefined
}

/** Keeps told pauses in the ledger as it hears of them. The tables must be there. */
export async function ledgerBudget(
  engine: Engine,
  key: KeyOf,
  limits: Pick<BudgetOptions, 'maxRequests' | 'deadline'> = {},
): Promise<LedgerBudget> {
  const keyId = apiKeyId(key.apiKey)
  const facts = await keyFacts(engine, key)
  const shared = await sharedRequests(engine, keyId, facts.perMinute)
  const budget = createBudget({
    ...limits,
    ...facts,
    clock: key.clock,
    shared,
    // Where it cannot be written, whatever else is written fails too and says why.
    onPause: until => void recordPause(engine, keyId, until).catch(() => undefined),
  })
  return { budget, shared }
}
