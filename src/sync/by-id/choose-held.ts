/** Chooses among the held records of all resources those that are worth the most for a number of requests. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { DueId } from '../../state/by-id/due.ts'
import { type HeldId, heldIds, heldKinds } from '../../state/by-id/held-ids.ts'
import { hintKinds, hintsAt } from '../../state/by-id/hints.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { Choice, ceilingMs, type Held, importanceOf, type RefreshBudget } from './refresh.ts'
import { HintWorth } from './refresh-hints.ts'
import { priorOf, rateOf } from './refresh-rate.ts'

/** Held records to read again, by the name of their resource. */
export type Chosen = ReadonlyMap<string, readonly DueId[]>

export interface HeldChoice {
  readonly chosen: Chosen
  /** How many were worth a request, by the name of their resource. */
  readonly worth: ReadonlyMap<string, number>
}

/** A held record, and of which resource it is. */
interface Candidate extends Held {
  readonly resource: string
  readonly due: DueId
}

/** What all reads of a resource so far say of one of its records. */
async function judgeOf(engine: Engine, resource: Resource): Promise<(one: HeldId) => Candidate> {
  const priors = new Map((await heldKinds(engine, resource)).map(sums => [sums.kind, priorOf(sums)]))
  const worth = new HintWorth(hintsAt(resource), await hintKinds(engine, resource.name))
  return one => {
    const all = rateOf(one, priors.get(one.kind) ?? priorOf(undefined))
    const rate = one.isSignalled ? all : all * worth.quietShare(one)
    const expected = {
      kind: one.kind,
      rate: all,
      fresh: Math.exp(-rate * Math.max(0, one.age)),
      hints: one.hints,
    }
    return {
      id: one.id,
      age: one.age,
      rate,
      importance: importanceOf(one),
      isSignalled: one.isSignalled,
      doubt: -Math.log(worth.freshFactor(one)),
      resource: resource.name,
      due: { record_id: one.id, state: 'held', misses: 0, expected },
    }
  }
}

export async function chooseHeld(
  engine: Engine,
  resources: readonly Resource[],
  { nowMs, budget }: { readonly nowMs: number; readonly budget: RefreshBudget },
): Promise<HeldChoice> {
  const choice = new Choice<Candidate>(budget)
  const worth = new Map<string, number>()
  const times = {
    at: new Date(nowMs).toISOString(),
    fetchedBefore: new Date(nowMs - ceilingMs).toISOString(),
  }
  for (const resource of resources) {
    const judge = await judgeOf(engine, resource)
    const before = choice.worth
    for await (const one of heldIds(engine, { resource, ...times })) choice.add(judge(one))
    worth.set(resource.name, choice.worth - before)
  }
  const chosen = new Map<string, DueId[]>(resources.map(({ name }) => [name, []]))
  for (const { resource, due } of choice.chosen()) chosen.get(resource)?.push(due)
  return { chosen, worth }
}
