/** Chooses among the held records of all resources those that are worth the most for a number of requests. */
import type { Resource } from '../resources/resource.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type HeldId, heldIds, heldKinds } from '../warehouse/ledger/held-ids.ts'
import { Choice, ceilingMs, type Held, importanceOf, type RefreshBudget } from './refresh.ts'
import { priorOf, rateOf } from './refresh-rate.ts'

/** Held records to read again, by the name of their resource. */
export type Chosen = ReadonlyMap<string, readonly string[]>

export interface HeldChoice {
  readonly chosen: Chosen
  /** How many were worth a request, by the name of their resource. */
  readonly worth: ReadonlyMap<string, number>
}

async function rates(engine: Engine, resource: Resource): Promise<(one: HeldId) => number> {
  const priors = new Map((await heldKinds(engine, resource)).map(sums => [sums.kind, priorOf(sums)]))
  return one => rateOf(one, priors.get(one.kind) ?? priorOf(undefined))
}

export async function chooseHeld(
  engine: Engine,
  resources: readonly Resource[],
  { nowMs, budget }: { readonly nowMs: number; readonly budget: RefreshBudget },
): Promise<HeldChoice> {
  const choice = new Choice(budget)
  const worth = new Map<string, number>()
  const resourceOf = new WeakMap<Held, string>()
  const times = {
    at: new Date(nowMs).toISOString(),
    fetchedBefore: new Date(nowMs - ceilingMs).toISOString(),
  }
  for (const resource of resources) {
    const rate = await rates(engine, resource)
    const before = choice.worth
    for await (const one of heldIds(engine, { resource, ...times })) {
      const held: Held = { ...one, rate: rate(one), importance: importanceOf(one) }
      resourceOf.set(held, resource.name)
      choice.add(held)
    }
    worth.set(resource.name, choice.worth - before)
  }
  const chosen = new Map<string, string[]>(resources.map(({ name }) => [name, []]))
  for (const held of choice.chosen()) chosen.get(resourceOf.get(held) ?? '')?.push(held.id)
  return { chosen, worth }
}
