/** Tables in which there is nothing to remove, as no row of the resource was in them when they were looked at. */
import type { Engine } from '../../warehouse/engine.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import type { StagePlan } from '../read/plan.ts'
import { distinctOwners, type Target, targetsOf } from './targets.ts'

const nameOf = (target: Target): string => `${qualified(target)} ${target.kind}`

/**
 * Looks once, for all batches of the process that holds the lease: rows that came later came with records of its own batches, which
 * then are neither new nor inferred.
 */
export class EmptyTables {
  readonly #plan: StagePlan
  #found: ReadonlySet<string> | undefined

  constructor(plan: StagePlan) {
    this.#plan = plan
  }

  /** Those of the owners that may have rows of records that are new, or else inferred: these have a row of the record itself. */
  async others(engine: Engine, owners: readonly Target[], areInferred: boolean): Promise<readonly Target[]> {
    this.#found ??= await this.#look(engine)
    const found = this.#found
    return owners.filter(
      one => !found.has(nameOf(one)) || (areInferred && one.stage === this.#plan.root.name),
    )
  }

  /** An `exists` for each table takes 4.4 ms to plan where this takes 2.7, as deleting from three of them does. */
  async #look(engine: Engine): Promise<ReadonlySet<string>> {
    const owners = distinctOwners(targetsOf(this.#plan))
    const held = owners.map(
      (one, index) => `(select ${index} as n from ${qualified(one)} as t where ${one.kind} limit 1)`,
    )
    const rows = await engine.rows<{ n: number }>(held.join(' union all '))
    const filled = new Set(rows.map(({ n }) => Number(n)))
    return new Set(owners.filter((_, index) => !filled.has(index)).map(nameOf))
  }
}
