/** Loads the scans of a replay: one by one, or together for the parts of a snapshot that one run read. */
import { basename } from 'node:path'
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import { damageIn, type ScanDamage } from '../../landing/damage.ts'
import type { LandedPage } from '../../landing/landing.ts'
import type { ScanRequest } from '../../landing/manifest.ts'
import type { PageBatch } from '../../load/load-batch.ts'
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
  /** Scans left out, wholly or in part, because of damaged files. */
  readonly damaged: readonly ScanDamage[]
}

/** The state of a replay: what it has loaded so far. */
export class Replay implements ReplayResult {
  readonly #engine: Engine
  readonly #limits: RecordLimits
  readonly #pipelines = new Map<string, Pipeline>()
  scans = 0
  pages = 0
  records = 0
  quarantined = 0
  readonly damaged: ScanDamage[] = []

  constructor(engine: Engine, limits: RecordLimits) {
    this.#engine = engine
    this.#limits = limits
  }

  pipelineOf(resource: Resource): Pipeline {
    const known = this.#pipelines.get(resource.name)
    if (known) return known
    const made = new Pipeline({ engine: this.#engine, plan: stagePlan(resource), limits: this.#limits })
    this.#pipelines.set(resource.name, made)
    return made
  }

  load(resource: Resource, batch: PageBatch): Promise<void> {
    return this.pipelineOf(resource).load(batch, async (engine, { merge }) => {
      const { records, quarantined } = await engine.merge(merge)
      this.records += records
      this.quarantined += quarantined
    })
  }
}

export interface KnownScan {
  readonly scan: string
  readonly facts: ScanRequest
  readonly resource: Resource
}

/** A scan whose pages are verified files. */
export interface ReadyScan extends KnownScan {
  readonly pages: readonly LandedPage[]
  /** Removes the files unpacked for it. */
  readonly remove: () => void
}

/** Batches as large as a sync's, so that a replay needs no more memory. */
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
  const rows = facts.isById ? 'data as one record' : rowsAt(resource)
  const snapshot = snapshotOf(ready)
  try {
    // A snapshot replaces its extent, so all its pages are one batch, regardless of size.
    for (const batch of facts.extent ? [[...pages]].filter(({ length }) => length > 0) : batches(ready)) {
      const files = pagesOf(ready, batch)
      await replaying.load(resource, { pages: files, rows, ...(snapshot.length > 0 && { snapshot }) })
      replaying.pages += batch.length
    }
  } finally {
    await replaying.pipelineOf(resource).drained()
  }
}

/** Loads the parts of a snapshot as one batch: a statement costs the same for one project's matrix as for many. */
async function replayTogether(replaying: Replay, group: readonly ReadyScan[]): Promise<void> {
  const { resource } = group[0] as ReadyScan
  const pages = group.flatMap(one => pagesOf(one, one.pages))
  try {
    await replaying.load(resource, { pages, rows: rowsAt(resource), snapshot: group.flatMap(snapshotOf) })
  } finally {
    await replaying.pipelineOf(resource).drained()
  }
  replaying.pages += pages.length
}

const extentOf = ({ facts }: ReadyScan): string => JSON.stringify(facts.extent)

/** Whether a scan can join the group: same run, another part. A later read of the same part replaces the earlier one. */
export function belongs(group: readonly ReadyScan[], next: ReadyScan): boolean {
  const [first] = group
  if (!first || first.resource !== next.resource || !first.facts.extent || !next.facts.extent) return false
  const isOneRun = first.pages[0]?.runId === next.pages[0]?.runId
  const isNew = group.every(one => extentOf(one) !== extentOf(next))
  const extents = group.flatMap(({ facts }) => (facts.extent ? [facts.extent] : []))
  return (
    isOneRun &&
    isNew &&
    mayShareLoad(first.resource, extents, next.facts.extent) &&
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

/** Loads a group that failed scan by scan, so that only the damaged scan is left out. */
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
