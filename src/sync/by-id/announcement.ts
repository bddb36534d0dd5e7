/** Reports how many records a run will fetch by id. */
import { type DueTerms, knownIds } from '../../state/by-id/due.ts'
import type { SyncContext } from '../run/context.ts'
import type { LockedTask } from '../run/task.ts'
import type { StoredChoice } from './choose-stored.ts'
import { fetchesInAll, type ResourceIdCounts } from './expected-ids.ts'

interface AnnouncedTask {
  readonly locked: LockedTask
  readonly asked: ReadonlySet<string>
}

export class Announcement {
  readonly #sync: SyncContext
  /** Known ids before the first record was fetched. */
  readonly #knownBefore = new Map<string, number>()

  constructor(sync: SyncContext) {
    this.#sync = sync
  }

  async count(resources: readonly AnnouncedTask[], terms: DueTerms): Promise<ResourceIdCounts[]> {
    const names = resources.map(({ locked }) => locked.task.resource.name)
    const ids = await knownIds(this.#sync.engine, names, terms)
    return resources.map(({ locked, asked }) => {
      const resource = locked.task.resource.name
      const { due = 0, sources = new Map<string, number>() } = ids.get(resource) ?? {}
      const known = [...sources.values()].reduce((sum, n) => sum + n, 0)
      const knownBefore = this.#knownBefore.get(resource) ?? known
      this.#knownBefore.set(resource, knownBefore)
      return { resource, due, asked: asked.size, again: 0, known, knownBefore, sources }
    })
  }

  /** `chosen` are stored records; those already requested count only once. */
  emitCounts(
    counts: readonly ResourceIdCounts[],
    resources: readonly AnnouncedTask[],
    chosen: StoredChoice['chosen'] | undefined,
  ): void {
    const asked = new Map(resources.map(one => [one.locked.task.resource.name, one.asked]))
    const all = counts.map(count => {
      const again = chosen?.get(count.resource) ?? []
      return {
        ...count,
        again: again.filter(({ record_id: id }) => !asked.get(count.resource)?.has(id)).length,
      }
    })
    for (const { locked } of resources) {
      const { resource, counters } = locked.task
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
