/** Remembers tables known to hold no rows of this resource: nothing need be removed from them. */
import type { Engine } from '../../warehouse/engine.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import type { StagePlan } from '../read/plan.ts'
import { distinctOwners, type MergeTarget, targetsOf } from './targets.ts'

const nameOf = (target: MergeTarget): string => `${qualified(target)} ${target.kind}`

/**
 * Looks once, for all batches of the process that holds the lease. Rows added later come from its own batches, and
 * their records are then neither new nor inferred.
 */
export class EmptyTables {
  readonly #plan: StagePlan
  #found: ReadonlySet<string> | undefined

  constructor(plan: StagePlan) {
    this.#plan = plan
  }

  /**
   * Returns the tables to delete from when all arriving records are new or inferred. An inferred record has a row in
   * the root table.
   */
  async others(
    engine: Engine,
    owners: readonly MergeTarget[],
    areInferred: boolean,
  ): Promise<readonly MergeTarget[]> {
    this.#found ??= await this.#look(engine)
    const found = this.#found
    return owners.filter(
      one => !found.has(nameOf(one)) || (areInferred && one.stage === this.#plan.root.name),
    )
  }

  /** Plans in 2.7 ms where an `exists` for each table takes 4.4; deleting from three of the tables also takes 2.7. */
  async #look(engine: Engine): Promise<ReadonlySet<string>> {
    const owners = distinctOwners(targetsOf(this.#plan))
    const rowQueries = owners.map(
      (one, index) => `(select ${index} as n from ${qualified(one)} as t where ${one.kind} limit 1)`,
    )
    const rows = await engine.rows<{ n: number }>(rowQueries.join(' union all '))
    const filled = new Set(rows.map(({ n }) => Number(n)))
    return new Set(owners.filter((_, index) => !filled.has(index)).map(nameOf))
  }
}
