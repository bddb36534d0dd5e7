/** Chooses the stored records of all resources that are worth the most for a number of requests. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { DueId } from '../../state/by-id/due.ts'
import { signalCounts, signalsOf } from '../../state/by-id/signal-counts.ts'
import { kindSums, type StoredId, storedIds } from '../../state/by-id/stored-ids.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { priorOf, rateOf } from './change-rate.ts'
import {
  importanceOf,
  type RefreshBudget,
  RefreshChoice,
  type RefreshRecord,
  refetchPauseMs,
} from './refresh-worth.ts'
import { SignalWorth } from './signal-worth.ts'

/** By resource name. */
export interface StoredChoice {
  /** Records to fetch again. */
  readonly chosen: ReadonlyMap<string, readonly DueId[]>
  /** How many were worth a request. */
  readonly worth: ReadonlyMap<string, number>
}

interface RefreshCandidate extends RefreshRecord {
  readonly resource: string
  readonly due: DueId
}

/** Rates a record using all fetches of its resource so far. */
async function rating(engine: Engine, resource: Resource): Promise<(one: StoredId) => RefreshCandidate> {
  const priors = new Map((await kindSums(engine, resource)).map(sums => [sums.kind, priorOf(sums)]))
  const worth = new SignalWorth(signalsOf(resource), await signalCounts(engine, resource.name))
  return one => {
    const all = rateOf(one, priors.get(one.kind) ?? priorOf(undefined))
    const rate = one.isSignalled ? all : all * worth.quietShare(one)
    const expected = {
      kind: one.kind,
      rate: all,
      fresh: Math.exp(-rate * Math.max(0, one.age)),
      signals: one.signals,
    }
    return {
      id: one.id,
      age: one.age,
      rate,
      importance: importanceOf(one),
      isSignalled: one.isSignalled,
      doubt: -Math.log(worth.freshFactor(one)),
      resource: resource.name,
      due: { record_id: one.id, state: 'stored', failures: 0, expected },
    }
  }
}

export async function chooseStored(
  engine: Engine,
  resources: readonly Resource[],
  { nowMs, budget }: { readonly nowMs: number; readonly budget: RefreshBudget },
): Promise<StoredChoice> {
  const choice = new RefreshChoice<RefreshCandidate>(budget)
  const worth = new Map<string, number>()
  const times = {
    at: new Date(nowMs).toISOString(),
    fetchedBefore: new Date(nowMs - refetchPauseMs).toISOString(),
  }
  for (const resource of resources) {
    const rate = await rating(engine, resource)
    const before = choice.worth
    for await (const one of storedIds(engine, { resource, ...times })) choice.add(rate(one))
    worth.set(resource.name, choice.worth - before)
  }
  const forEvents = choice.forEvents()
  const all = choice.chosen()
  const chosenOf = (name: string): DueId[] =>
    all
      .filter(({ resource }) => resource === name)
      .map(one => (forEvents.has(one) ? { ...one.due, isForEvents: true } : one.due))
  return { chosen: new Map(resources.map(({ name }) => [name, chosenOf(name)])), worth }
}
