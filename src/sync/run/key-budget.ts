/** The budget of a key from the ledger: what earlier processes sent, and until when the service told them to wait. */
import { type Budget, type BudgetOptions, createBudget } from '../../api/budget/budget.ts'
import { reserves } from '../../api/budget/day.ts'
import { defaultPerDay, defaultPerMinute } from '../../api/client/key.ts'
import type { Clock } from '../../lib/clock.ts'
import { eventRequests } from '../../state/requests/event-requests.ts'
import { type KeyRequests, shareRequests } from '../../state/requests/key-requests.ts'
import { knownPerMinute, pausedUntil, recordPause, sentSince } from '../../state/requests/key-state.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { countedElsewhere, dayOf, type EventCount, eventCount } from './event-count.ts'
import { apiKeyId } from './key.ts'

interface KeyOf {
  readonly apiKey: string
  readonly clock: Clock
}

export type KeyFacts = Pick<BudgetOptions, 'recentRequests' | 'perMinute' | 'pausedUntil'>

/** A rolling minute, and a second for either end of it. */
const recentSeconds = 62

export async function keyFacts(engine: Engine, { apiKey, clock }: KeyOf): Promise<KeyFacts> {
  const keyId = apiKeyId(apiKey)
  return {
    recentRequests: await sentSince(engine, Math.floor(clock.now() / 1000) - recentSeconds),
    perMinute: await knownPerMinute(engine, keyId),
    pausedUntil: await pausedUntil(engine, keyId),
  }
}

interface LedgerBudget {
  readonly budget: Budget
  /** To be closed when nothing is sent any more; undefined for a file. */
  readonly shared: KeyRequests | undefined
  readonly events: EventCount
}

/** Records pauses that the service asks for. The tables must exist. */
export async function ledgerBudget(
  engine: Engine,
  key: KeyOf,
  limits: Pick<BudgetOptions, 'maxRequests' | 'deadline'> = {},
): Promise<LedgerBudget> {
  const keyId = apiKeyId(key.apiKey)
  const facts = await keyFacts(engine, key)
  const { spent, perDay } = await eventRequests(engine, { keyId, day: dayOf(key.clock) })
  const perMinute = facts.perMinute ?? defaultPerMinute
  const shared = await shareRequests(engine, { keyId, perMinute, perDay: defaultPerDay, reserves })
  const budget = createBudget({
    ...limits,
    ...facts,
    clock: key.clock,
    shared,
    eventsToday: spent,
    perDay,
    // A warehouse that cannot be written fails the next batch too, which reports it.
    onPause: until => void recordPause(engine, keyId, until).catch(() => undefined),
  })
  return { budget, shared, events: shared ? countedElsewhere : eventCount(budget, keyId, key.clock) }
}
