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

/** In the order of the resources. */
type AnnouncedCounts = ReadonlyMap<AnnouncedTask, ResourceIdCounts>

export class Announcement {
  readonly #sync: SyncContext
  /** Known ids before the first record was fetched. */
  readonly #knownBefore = new Map<string, number>()

  constructor(sync: SyncContext) {
    this.#sync = sync
  }

  async count(resources: readonly AnnouncedTask[], terms: DueTerms): Promise<AnnouncedCounts> {
    const names = resources.map(({ locked }) => locked.task.resource.name)
    const ids = await knownIds(this.#sync.engine, names, terms)
    const counts = resources.map((one): [AnnouncedTask, ResourceIdCounts] => {
      const resource = one.locked.task.resource.name
      const { due = 0, sources = new Map<string, number>() } = ids.get(resource) ?? {}
      const known = [...sources.values()].reduce((sum, n) => sum + n, 0)
      const knownBefore = this.#knownBefore.get(resource) ?? known
      this.#knownBefore.set(resource, knownBefore)
      return [one, { resource, due, asked: one.asked.size, again: 0, known, knownBefore, sources }]
    })
    return new Map(counts)
  }

  /** `chosen` are stored records; those already requested count only once. */
  emitCounts(announced: AnnouncedCounts, chosen: StoredChoice['chosen'] | undefined): void {
    const all = [...announced].map(([{ locked, asked }, count]) => {
      const again = chosen?.get(count.resource) ?? []
      const left = again.filter(({ record_id: id }) => !asked.has(id))
      return { ...count, again: left.length, requests: locked.task.counters.requests }
    })
    for (const count of all)
      this.#sync.emit({
        resource: count.resource,
        state: 'waiting',
        requests: count.requests,
        ...fetchesInAll(count, all, this.#sync.key.kind),
      })
  }
}
