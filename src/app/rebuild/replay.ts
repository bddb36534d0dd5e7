/** Rebuilds a warehouse from its landed pages, without one request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lastPage } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import { keptWalks, unpack } from '../../landing/archive.ts'
import { type LandedPage, type Landing, openLanding, type WalkFacts } from '../../landing/folder.ts'
import type { PageBatch } from '../../load/load-batch.ts'
import { Pipeline } from '../../load/pipeline.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { isFullBatch } from '../../sync/run/task-pipeline.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { totalOf } from './landed-total.ts'

export interface ReplayProgress {
  readonly walk: string
  readonly resource: string
  readonly done: number
  readonly walks: number
}

export interface ReplayOutcome {
  readonly walks: number
  readonly pages: number
  readonly records: number
  readonly quarantined: number
}

class Replay {
  readonly #engine: Engine
  readonly #pipelines = new Map<string, Pipeline>()
  walks = 0
  pages = 0
  records = 0
  quarantined = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** One a resource: fields that a page showed are known to those after it. */
  pipelineOf(resource: Resource): Pipeline {
    const known = this.#pipelines.get(resource.name)
    if (known) return known
    const made = new Pipeline({
      engine: this.#engine,
      plan: stagePlan(resource),
      drifted: new Set(),
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

/** A snapshot that was read several times counts from its last first page, and only when no page of it is missing. */
function completeReading(pages: readonly LandedPage[], rows: 'list' | 'object'): readonly LandedPage[] {
  const start = pages.map(({ page }) => page).lastIndexOf(1)
  const reading = start < 0 ? [] : pages.slice(start)
  if (rows === 'object' || reading.length === 0) return reading
  return reading.length === lastPage(totalOf(reading[0] as LandedPage)) ? reading : []
}

function snapshotOf(facts: WalkFacts, pages: readonly LandedPage[]): PageBatch['snapshot'] {
  const last = pages.at(-1)
  return facts.extent && last ? [{ extent: facts.extent, time: last.fetchedAt, run: last.runId }] : undefined
}

function batchOf(facts: WalkFacts, resource: Resource, landed: readonly LandedPage[]): PageBatch {
  const pages = landed.map((page): PageFile => ({ ...page, scope: facts.scope }))
  const snapshot = snapshotOf(facts, landed)
  const rows = facts.isById ? 'data as one record' : rowsAt(resource)
  return { pages, rows, sampled: pages, ...(snapshot && { snapshot }) }
}

async function replayWalk(replaying: Replay, landing: Landing, walk: string): Promise<void> {
  const facts = landing.facts(walk)
  const resource = findResource(facts.resource)
  replaying.walks += 1
  if (!resource) return
  const all = landing.pages(walk)
  // Only a snapshot has an extent.
  const pages = facts.extent ? completeReading(all, rowsAt(resource) === 'data' ? 'list' : 'object') : all
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

/** Loads every kept walk, oldest first, into an empty warehouse; rows carry the times and runs of their pages. */
export async function replay(
  engine: Engine,
  root: string,
  onWalk: (progress: ReplayProgress) => void | Promise<void>,
): Promise<ReplayOutcome> {
  const landing = openLanding(root)
  const walks = keptWalks(landing)
  const replaying = new Replay(engine)
  for (const [index, walk] of walks.entries()) {
    const folder = landing.walks().includes(walk)
      ? undefined
      : mkdtempSync(join(dirname(root), '.muster-replay-'))
    try {
      if (folder) await unpack(landing, walk, folder)
      const source = folder ? openLanding(folder) : landing
      await onWalk({ walk, resource: source.facts(walk).resource, done: index, walks: walks.length })
      await replayWalk(replaying, source, walk)
    } finally {
      if (folder) rmSync(folder, { recursive: true, force: true })
    }
  }
  const { pages, records, quarantined } = replaying
  return { walks: replaying.walks, pages, records, quarantined }
}
