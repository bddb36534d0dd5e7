/** Loads the landed pages of every kept scan into an empty warehouse, without one request. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readEnvelope } from '../../api/client/envelope.ts'
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import { keptScans, unpack } from '../../landing/archive.ts'
import { checkedPages, type Damage, Damaged, factsDamage, missingScans } from '../../landing/damage.ts'
import { type LandedPage, type Landing, openLanding, type ScanFacts } from '../../landing/folder.ts'
import { MusterError } from '../../lib/errors.ts'
import type { PageBatch } from '../../load/load-batch.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { Pipeline } from '../../load/pipeline.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { isFullBatch } from '../../sync/run/task-pipeline.ts'
import { temporaryFolder } from '../../temporary/places.ts'
import type { Engine } from '../../warehouse/engine.ts'

export interface ReplayProgress {
  readonly resource: string
  /** Scans loaded before this one, and all. */
  readonly done: number
  readonly scans: number
}

export interface ReplayResult {
  readonly scans: number
  readonly pages: number
  readonly records: number
  readonly quarantined: number
  /** Scans that were left out, or pages of them, because their files are damaged. */
  readonly damaged: readonly Damage[]
}

/** What one replay has loaded so far. */
class Replay implements ReplayResult {
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

/** As much as a sync loads at once, so that a replay needs no more memory than it did. */
function batches(pages: readonly LandedPage[]): LandedPage[][] {
  const result: LandedPage[][] = [[]]
  for (const page of pages) {
    if (isFullBatch(result.at(-1) ?? [])) result.push([])
    result.at(-1)?.push(page)
  }
  return result.filter(batch => batch.length > 0)
}

/** Total that a landed page tells of its list. Throws MusterError. */
const totalOf = ({ file, page }: LandedPage): number =>
  readEnvelope(readFileSync(file), { page, limit: pageLimit }).meta?.total ?? 0

/** A snapshot that was read several times counts from its last first page, and only when no page of it is missing. */
function completePass(pages: readonly LandedPage[], rows: 'list' | 'object'): readonly LandedPage[] {
  const start = pages.map(({ page }) => page).lastIndexOf(1)
  const pass = start < 0 ? [] : pages.slice(start)
  if (rows === 'object' || pass.length === 0) return pass
  return pass.length === lastPage(totalOf(pass[0] as LandedPage)) ? pass : []
}

function snapshotOf(facts: ScanFacts, pages: readonly LandedPage[]): PageBatch['snapshot'] {
  const last = pages.at(-1)
  return facts.extent && last ? [{ extent: facts.extent, time: last.fetchedAt, run: last.runId }] : undefined
}

function batchOf(facts: ScanFacts, resource: Resource, landed: readonly LandedPage[]): PageBatch {
  const pages = landed.map((page): PageFile => ({ ...page, scope: facts.scope, wasReadAgain: true }))
  const snapshot = snapshotOf(facts, landed)
  const rows = facts.isById ? 'data as one record' : rowsAt(resource)
  return { pages, rows, ...(snapshot && { snapshot }) }
}

interface KnownScan {
  readonly scan: string
  readonly facts: ScanFacts
  readonly resource: Resource
}

/** Only a snapshot has an extent. Throws Damaged. */
function pagesToLoad(
  pages: readonly LandedPage[],
  { scan, facts, resource }: KnownScan,
): readonly LandedPage[] {
  if (!facts.extent) return pages
  try {
    return completePass(pages, rowsAt(resource) === 'data' ? 'list' : 'object')
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    throw new Damaged(scan, 'its first page does not tell how many there are', error)
  }
}

async function replayScan(replaying: Replay, landing: Landing, known: KnownScan): Promise<void> {
  const { scan, facts, resource } = known
  replaying.scans += 1
  const checked = checkedPages(landing, scan, true)
  replaying.damaged.push(...checked.damaged.map(what => ({ scan, what })))
  const pages = pagesToLoad(checked.pages, known)
  const pipeline = replaying.pipelineOf(resource)
  try {
    // A snapshot replaces its extent, so its pages are one batch whatever their size.
    for (const batch of facts.extent ? [[...pages]].filter(({ length }) => length > 0) : batches(pages)) {
      await pipeline.load(batchOf(facts, resource, batch))
      replaying.pages += batch.length
    }
  } finally {
    await pipeline.drained()
  }
}

/** Throws Damaged. */
function knownScan(landing: Landing, scan: string): KnownScan {
  const damage = factsDamage(landing, scan)
  if (damage !== undefined) throw new Damaged(scan, damage)
  const facts = landing.facts(scan)
  const resource = findResource(facts.resource)
  if (!resource) throw new Damaged(scan, 'scan.json names no resource that this release knows')
  return { scan, facts, resource }
}

export interface LandedPages {
  /** The folder of the landing. */
  readonly root: string
  /** Of a record. */
  readonly limits: RecordLimits
}

/** Oldest first; rows carry the times and runs of their pages. `onProgress` is awaited before each scan is loaded. */
export async function replay(
  engine: Engine,
  { root, limits }: LandedPages,
  onProgress: (progress: ReplayProgress) => void | Promise<void>,
): Promise<ReplayResult> {
  const landing = openLanding(root)
  const kept = keptScans(landing)
  const replaying = new Replay(engine, limits)
  replaying.damaged.push(...missingScans(landing, kept))
  for (const [index, scan] of kept.entries()) {
    const folder = landing.scans().includes(scan)
      ? undefined
      : temporaryFolder(join(dirname(root), '.muster-replay'), 'pages of an archive, for a replay')
    try {
      if (folder) await unpack(landing, scan, folder.path)
      const source = folder ? openLanding(folder.path) : landing
      const known = knownScan(source, scan)
      await onProgress({ resource: known.resource.name, done: index, scans: kept.length })
      await replayScan(replaying, source, known)
    } catch (error) {
      if (error instanceof Damaged) replaying.damaged.push(error.damage)
      else if (error instanceof PageUnreadable)
        replaying.damaged.push({ scan, what: `${basename(error.page.file)} cannot be read` })
      else throw error
    } finally {
      folder?.remove()
    }
  }
  const { scans, pages, records, quarantined, damaged } = replaying
  return { scans, pages, records, quarantined, damaged }
}
