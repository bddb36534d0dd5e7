/** Restores a key's budget from the ledger: what earlier processes sent, and how long the service asked them to wait. */
import { type Budget, type BudgetOptions, createBudget } from '../../api/budget/budget.ts'
import { reserves } from '../../api/budget/day.ts'
import { defaultPerDay, defaultPerMinute } from '../../api/client/key.ts'
import type { ServiceClock } from '../../lib/service-clock.ts'
import { eventRequests } from '../../state/requests/event-requests.ts'
import { type KeyRequests, shareRequests } from '../../state/requests/key-requests.ts'
import { knownPerMinute, pausedFor, recordPause, sentWithin } from '../../state/requests/key-state.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { countedElsewhere, dayOf, type EventCount, eventCount } from './event-count.ts'
import { apiKeyId } from './key.ts'

interface KeyOwner {
  readonly apiKey: string
  readonly clock: ServiceClock
}

export type KeyFacts = Pick<BudgetOptions, 'recentRequests' | 'perMinute' | 'pausedForMs'>

/** A rolling minute, plus extra seconds at its edges. */
const recentSeconds = 63

export async function keyFacts(engine: Engine, { apiKey, clock }: KeyOwner): Promise<KeyFacts> {
  const keyId = apiKeyId(apiKey)
  const now = clock.machine.now()
  return {
    recentRequests: await sentWithin(engine, recentSeconds, Math.floor(now / 1000)),
    perMinute: await knownPerMinute(engine, keyId),
    pausedForMs: await pausedFor(engine, keyId, now),
  }
}

interface LedgerBudget {
  readonly budget: Budget
  /** Milliseconds left to wait. */
  readonly pausedForMs: number
  /** Close it when nothing more will be sent; undefined for a file. */
  readonly shared: KeyRequests | undefined
  readonly events: EventCount
}

/** Records the pauses that the service asks for. The tables must exist. */
export async function ledgerBudget(
  engine: Engine,
  key: KeyOwner,
  limits: Pick<BudgetOptions, 'maxRequests' | 'deadline'> = {},
): Promise<LedgerBudget> {
  const keyId = apiKeyId(key.apiKey)
  const facts = await keyFacts(engine, key)
  const { spent, perDay } = await eventRequests(engine, { keyId, day: dayOf(key.clock) })
  const perMinute = facts.perMinute ?? defaultPerMinute
  const shared = await shareRequests(engine, { keyId, perMinute, perDay: defaultPerDay, reserves })
  const remember = (ms: number): Promise<void> =>
    // If the warehouse cannot be written, the next batch fails too and reports it.
    recordPause(engine, keyId, { saidAt: key.clock.machine.now(), ms }).catch(() => undefined)
  const budget = createBudget({
    ...limits,
    ...facts,
    // When processes share a key, the server stores the pause, by its own clock.
    ...(shared ? { pausedForMs: 0 } : { onPause: (ms: number) => void remember(ms) }),
    clock: key.clock,
    shared,
    eventsToday: spent,
    perDay,
  })
  return {
    budget,
    shared,
    pausedForMs: (shared ? await shared.pausedFor() : facts.pausedForMs) ?? 0,
    events: shared ? countedElsewhere : eventCount(budget, keyId, key.clock),
  }
}
