/** Loads the scans of a replay: each by itself, or the parts of a snapshot that one run read together. */
import { basename } from 'node:path'
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import { type Damage, damageIn } from '../../landing/damage/damaged.ts'
import type { LandedPage } from '../../landing/folder.ts'
import type { ScanFacts } from '../../landing/scan-facts.ts'
import type { CompleteSnapshot } from '../../load/merge/delta.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { Pipeline } from '../../load/pipeline.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { isFullBatch } from '../../sync/run/task-pipeline.ts'
import { isFullLoad, mayShareLoad } from '../../sync/snapshot/load-scopes.ts'
import type { Engine } from '../../warehouse/engine.ts'

export interface ReplayResult {
  readonly scans: number
  readonly pages: number
  readonly records: number
  readonly quarantined: number
  /** Scans that were left out, or pages of them, because their files are damaged. */
  readonly damaged: readonly Damage[]
}

/** What one replay has loaded so far. */
export class Replay implements ReplayResult {
  readonly #engine: Engine
  readonly #limits: RecordLimits
  readonly #pipelines = new Map<string, Pipeline>()
  scans = 0
  pages = 0
  records = 0
  quarantined = 0
  readonly damaged: Damage[] = []

  constructor(engine: Engine, limits: RecordLimits) {
    this.#engine = engine
    this.#limits = limits
  }

  pipelineOf(resource: Resource): Pipeline {
    const known = this.#pipelines.get(resource.name)
    if (known) return known
    const made = new Pipeline({
      engine: this.#engine,
      plan: stagePlan(resource),
      limits: this.#limits,
      committed: ({ records, quarantined }) => {
        this.records += records
        this.quarantined += quarantined
      },
    })
    this.#pipelines.set(resource.name, made)
    return made
  }
}

export interface KnownScan {
  readonly scan: string
  readonly facts: ScanFacts
  readonly resource: Resource
}

/** A scan whose pages are files, checked. */
export interface ReadyScan extends KnownScan {
  readonly pages: readonly LandedPage[]
  /** Removes what was unpacked for it. */
  readonly remove: () => void
}

/** As much as a sync loads at once, so that a replay needs no more memory than it did. */
function batches({ pages, facts }: ReadyScan): LandedPage[][] {
  const result: LandedPage[][] = [[]]
  for (const page of pages) {
    if (isFullBatch(result.at(-1) ?? [], facts.isById)) result.push([])
    result.at(-1)?.push(page)
  }
  return result.filter(batch => batch.length > 0)
}

function snapshotOf({ facts, pages }: ReadyScan): CompleteSnapshot {
  const last = pages.at(-1)
  return facts.extent && last ? [{ extent: facts.extent, time: last.fetchedAt, run: last.runId }] : []
}

const pagesOf = ({ facts }: ReadyScan, pages: readonly LandedPage[]): PageFile[] =>
  pages.map(page => ({ ...page, scope: facts.scope, wasReadAgain: true }))

async function replayScan(replaying: Replay, ready: ReadyScan): Promise<void> {
  const { facts, resource, pages } = ready
  const pipeline = replaying.pipelineOf(resource)
  const rows = facts.isById ? 'data as one record' : rowsAt(resource)
  const snapshot = snapshotOf(ready)
  try {
    // A snapshot replaces its extent, so its pages are one batch whatever their size.
    for (const batch of facts.extent ? [[...pages]].filter(({ length }) => length > 0) : batches(ready)) {
      const files = pagesOf(ready, batch)
      await pipeline.load({ pages: files, rows, ...(snapshot.length > 0 && { snapshot }) })
      replaying.pages += batch.length
    }
  } finally {
    await pipeline.drained()
  }
}

/** Parts of a snapshot that one run read, as one batch: a statement costs the same for one project's matrix as for many. */
async function replayTogether(replaying: Replay, group: readonly ReadyScan[]): Promise<void> {
  const { resource } = group[0] as ReadyScan
  const pipeline = replaying.pipelineOf(resource)
  const pages = group.flatMap(one => pagesOf(one, one.pages))
  try {
    await pipeline.load({ pages, rows: rowsAt(resource), snapshot: group.flatMap(snapshotOf) })
  } finally {
    await pipeline.drained()
  }
  replaying.pages += pages.length
}

const extentOf = ({ facts }: ReadyScan): string => JSON.stringify(facts.extent)

/** Only what one run read at once: a later reading of the same part replaces the earlier one, which goes to history. */
export function belongs(group: readonly ReadyScan[], next: ReadyScan): boolean {
  const [first] = group
  if (!first || first.resource !== next.resource || !first.facts.extent || !next.facts.extent) return false
  const isOneRun = first.pages[0]?.runId === next.pages[0]?.runId
  const isNew = group.every(one => extentOf(one) !== extentOf(next))
  const held = group.flatMap(({ facts }) => (facts.extent ? [facts.extent] : []))
  return (
    isOneRun &&
    isNew &&
    mayShareLoad(first.resource, held, next.facts.extent) &&
    !isFullLoad(group.map(({ pages }) => pages))
  )
}

export function noteDamage(replaying: Replay, scan: string, error: unknown): void {
  const damage = damageIn(scan, error)
  if (damage) replaying.damaged.push(damage)
  else if (error instanceof PageUnreadable)
    replaying.damaged.push({ scan, what: `${basename(error.page.file)} cannot be read` })
  else throw error
}

/** What fails together is loaded scan by scan, so that only the damaged one is left out. */
export async function replayGroup(replaying: Replay, group: readonly ReadyScan[]): Promise<void> {
  try {
    if (group.length > 1)
      try {
        return await replayTogether(replaying, group)
      } catch (error) {
        if (!(error instanceof PageUnreadable)) throw error
      }
    for (const one of group)
      await replayScan(replaying, one).catch(error => noteDamage(replaying, one.scan, error))
  } finally {
    for (const { remove } of group) remove()
  }
}
