/** Rebuilds a warehouse from its landed pages, without one request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lastPage } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import { keptWalks, unpack } from '../../landing/archive.ts'
import { type LandedPage, type Landing, openLanding, type WalkFacts } from '../../landing/folder.ts'
import type { Loaded, LoadRequest } from '../../load/load.ts'
import { loadInParts } from '../../load/load-in-parts.ts'
import type { PageFile } from '../../load/read/pages.ts'
import { type StagePlan, stagePlan } from '../../load/read/plan.ts'
import { isFullBatch } from '../../sync/run/full-batch.ts'
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

interface Replaying {
  readonly engine: Engine
  readonly plans: Map<string, StagePlan>
  readonly drifted: Map<string, Set<string>>
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

function snapshotOf(facts: WalkFacts, pages: readonly LandedPage[]): LoadRequest['snapshot'] {
  const last = pages.at(-1)
  return facts.extent && last ? [{ extent: facts.extent, time: last.fetchedAt, run: last.runId }] : undefined
}

async function loadBatch(
  replaying: Replaying,
  resource: Resource,
  batch: { pages: readonly LandedPage[]; facts: WalkFacts },
): Promise<Loaded> {
  const { engine, plans, drifted } = replaying
  const plan = plans.get(resource.name) ?? stagePlan(resource)
  const known = drifted.get(resource.name) ?? new Set<string>()
  plans.set(resource.name, plan)
  drifted.set(resource.name, known)
  const pages = batch.pages.map((page): PageFile => ({ ...page, scope: batch.facts.scope }))
  const snapshot = snapshotOf(batch.facts, batch.pages)
  const rows = batch.facts.isById ? 'data as one record' : rowsAt(resource)
  return loadInParts(engine, {
    plan,
    pages,
    rows,
    sampled: pages,
    drifted: known,
    ...(snapshot && { snapshot }),
    commit: async () => undefined,
  })
}

async function replayWalk(replaying: Replaying, landing: Landing, walk: string): Promise<ReplayOutcome> {
  const facts = landing.facts(walk)
  const resource = findResource(facts.resource)
  const outcome = { walks: 1, pages: 0, records: 0, quarantined: 0 }
  if (!resource) return outcome
  const all = landing.pages(walk)
  // Only a snapshot has an extent.
  const pages = facts.extent ? completeReading(all, rowsAt(resource) === 'data' ? 'list' : 'object') : all
  // A snapshot replaces its extent, so its pages are one batch whatever their size.
  for (const batch of facts.extent ? [[...pages]].filter(({ length }) => length > 0) : batches(pages)) {
    const loaded = await loadBatch(replaying, resource, { pages: batch, facts })
    outcome.pages += batch.length
    outcome.records += loaded.records
    outcome.quarantined += loaded.quarantined
  }
  return outcome
}

const sum = (left: ReplayOutcome, right: ReplayOutcome): ReplayOutcome => ({
  walks: left.walks + right.walks,
  pages: left.pages + right.pages,
  records: left.records + right.records,
  quarantined: left.quarantined + right.quarantined,
})

/** Loads every kept walk, oldest first, into an empty warehouse; rows carry the times and runs of their pages. */
export async function replay(
  engine: Engine,
  root: string,
  onWalk: (progress: ReplayProgress) => void | Promise<void>,
): Promise<ReplayOutcome> {
  const landing = openLanding(root)
  const walks = keptWalks(landing)
  const replaying: Replaying = { engine, plans: new Map(), drifted: new Map() }
  let total: ReplayOutcome = { walks: 0, pages: 0, records: 0, quarantined: 0 }
  for (const [index, walk] of walks.entries()) {
    const folder = landing.walks().includes(walk)
      ? undefined
      : mkdtempSync(join(dirname(root), '.muster-replay-'))
    try {
      if (folder) await unpack(landing, walk, folder)
      const source = folder ? openLanding(folder) : landing
      await onWalk({ walk, resource: source.facts(walk).resource, done: index, walks: walks.length })
      total = sum(total, await replayWalk(replaying, source, walk))
    } finally {
      if (folder) rmSync(folder, { recursive: true, force: true })
    }
  }
  return total
}
