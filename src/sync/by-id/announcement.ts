/** Tells whoever watches a run how many records it will fetch by id. */
import { type DueTerms, knownIds } from '../../state/by-id/due.ts'
import type { SyncContext } from '../run/context.ts'
import type { HeldTask } from '../run/task.ts'
import type { StoredChoice } from './choose-stored.ts'
import { fetchesInAll, type IdCounts } from './ids-to-follow.ts'

interface Announced {
  readonly held: HeldTask
  readonly asked: ReadonlySet<string>
}

export class Announcement {
  readonly #sync: SyncContext
  /** Ids that were known when the first record was about to be fetched. */
  readonly #knownBefore = new Map<string, number>()

  constructor(sync: SyncContext) {
    this.#sync = sync
  }

  async count(resources: readonly Announced[], terms: DueTerms): Promise<IdCounts[]> {
    const names = resources.map(({ held }) => held.task.resource.name)
    const ids = await knownIds(this.#sync.engine, names, terms)
    return resources.map(({ held, asked }) => {
      const resource = held.task.resource.name
      const { due = 0, sources = new Map<string, number>() } = ids.get(resource) ?? {}
      const known = [...sources.values()].reduce((sum, n) => sum + n, 0)
      const knownBefore = this.#knownBefore.get(resource) ?? known
      this.#knownBefore.set(resource, knownBefore)
      return { resource, due, asked: asked.size, again: 0, known, knownBefore, sources }
    })
  }

  /** `chosen` are stored records; those that were asked for already count once. */
  tell(
    counts: readonly IdCounts[],
    resources: readonly Announced[],
    chosen: StoredChoice['chosen'] | undefined,
  ): void {
    const asked = new Map(resources.map(one => [one.held.task.resource.name, one.asked]))
    const all = counts.map(count => {
      const again = chosen?.get(count.resource) ?? []
      return {
        ...count,
        again: again.filter(({ record_id: id }) => !asked.get(count.resource)?.has(id)).length,
      }
    })
    for (const { held } of resources) {
      const { resource, counters } = held.task
      const count = all.find(one => one.resource === resource.name)
      if (!count) continue
      this.#sync.emit({
        resource: resource.name,
        state: 'waiting',
        requests: counters.requests,
        ...fetchesInAll(count, all, this.#sync.key.kind),
      })
    }
  }
}
