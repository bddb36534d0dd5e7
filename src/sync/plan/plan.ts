/** Plans what a sync or a backfill would read, resource by resource, from the ledger and a few small requests. */

import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import { lastPage } from '../../api/client/paging.ts'
import { idSourceOf } from '../../contract/derived/discovery.ts'
import {
  asReadBy,
  cannotRead,
  isCollection,
  type Resource,
  type Scan,
  type Snapshot,
} from '../../contract/fields/resource.ts'
import { key } from '../../contract/resources/key.ts'
import { projects } from '../../contract/resources/projects.ts'
import { daysBetween, utcDay } from '../../lib/dates.ts'
import { countDue } from '../../state/by-id/due.ts'
import { isLookDue } from '../../state/evidence/quarantine-looks.ts'
import { existingTables } from '../../state/existing-tables.ts'
import {
  averageChanges,
  backfilledPages,
  readBefore,
  snapshotPages,
} from '../../state/scans/previous-scans.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { chooseStored } from '../by-id/choose-stored.ts'
import { refetchPauseMs } from '../by-id/refresh-worth.ts'
import { chosenResources, type SyncRequest } from '../run/sync.ts'
import { dueScopes, type SnapshotScope } from '../snapshot/scopes.ts'
import { type Estimate, estimate, type KnownSize } from './estimate.ts'
import { askTotal, type Outlook, type PlanContext, type PlanSources } from './outlook.ts'
import { idsStillToCome, idsToCome } from './planned-ids.ts'

/** Before the first sync the projects are unknown, but the total of their list gives their number. */
async function firstScopes({ per }: Snapshot, context: PlanContext): Promise<number> {
  const companies = context.key.companies?.length ?? 0
  if (per === 'key') return 1
  if (per === 'company') return companies
  if (per === 'companyWindow') return companies * 2
  return companies + ((await askTotal(projects, context)) ?? 0)
}

async function scopesDue(
  resource: Resource,
  context: PlanContext,
): Promise<readonly SnapshotScope[] | number> {
  const { engine, clock, key: facts } = context
  if (engine && (await readWatermark(engine, projects.name)))
    return dueScopes({ resource, sync: { engine, clock, key: facts } })
  return firstScopes(resource.read as Snapshot, context)
}

/** Pages of the scopes at their last reading; undefined if one was never read. */
async function pagesLastTime(
  { engine }: PlanContext,
  resource: string,
  scopes: readonly SnapshotScope[],
): Promise<number | undefined> {
  const pages = engine && (await snapshotPages(engine, resource))
  if (!pages || scopes.some(({ name }) => !pages.has(name))) return undefined
  return scopes.reduce((sum, { name }) => sum + (pages.get(name) ?? 0), 0)
}

/** Assumes that every company is as large as the first one; undefined when no request may be sent. */
async function pagesByFirst(
  resource: Resource,
  context: PlanContext,
  scopes: number,
): Promise<number | undefined> {
  const [first, ...others] = context.key.companies ?? []
  const { per } = resource.read as Snapshot
  const path = resource.path.replace('{company}', () => encodeURIComponent(first?.id ?? ''))
  const filter: Readonly<Record<string, string>> =
    per === 'companyWindow' && first ? { company: first.id } : {}
  const total = await askTotal({ ...resource, path }, context, filter)
  if (total === undefined) return undefined
  const lists = per === 'key' ? 1 : others.length + 1
  return Math.max(scopes, lists * lastPage(total))
}

async function planSnapshot(resource: Resource, context: PlanContext): Promise<Outlook> {
  const strategy = 'snapshot'
  if (resource.name === key.name) return { strategy, size: { kind: 'key' } }
  const due = await scopesDue(resource, context)
  const scopes = typeof due === 'number' ? due : due.length
  const outlook = (pages: number | undefined, source: string, isCounted: boolean): Outlook => {
    const size: KnownSize = { kind: 'snapshot', scopes, pages, source, isCounted }
    return { strategy, size }
  }
  if ((resource.read as Snapshot).rows !== 'data') return outlook(scopes, 'one each', true)
  const last = typeof due === 'number' ? undefined : await pagesLastTime(context, resource.name, due)
  if (last !== undefined) return outlook(last, 'as last time', true)
  const pages = scopes === 0 ? 0 : await pagesByFirst(resource, context, scopes)
  if (pages === undefined) return outlook(undefined, 'of unknown size', false)
  return outlook(pages, 'if all are as large as the first', false)
}

export interface PlannedResource extends Estimate {
  readonly resource: string
  readonly strategy: string
  readonly watermark: string | null
  /** Rows of the list, or those between the given days; null when unknown. */
  readonly total: number | null
}

async function firstScan(
  resource: Resource,
  context: PlanContext,
  watermark: WatermarkRow | undefined,
): Promise<Outlook> {
  const remembered = watermark?.remembered_total ?? undefined
  const total = remembered === undefined ? await askTotal(resource, context) : Number(remembered)
  const strategy = watermark ? 'first sync, under way' : 'first sync'
  if (total === undefined) return { strategy, size: { kind: 'unknown' } }
  const canWindow = (resource.read as Scan).createdBetween !== undefined
  const pagesDone = context.engine ? await backfilledPages(context.engine, resource.name) : 0
  return { strategy, total, size: { kind: 'backfill', total, canWindow, pagesDone } }
}

async function scan(resource: Resource, context: PlanContext): Promise<Outlook> {
  const { engine, clock } = context
  const watermark = engine && (await readWatermark(engine, resource.name))
  if (!engine || !watermark?.backfilled_at) return firstScan(resource, context, watermark)
  const total = Number(watermark.remembered_total ?? 0)
  const changed = await averageChanges(engine, resource.name)
  const days = daysBetween(utcDay(watermark.moved_at), utcDay(clock.now()))
  const size: KnownSize = { kind: 'changes', total, changed, days }
  return { strategy: 'what changed', watermark: watermark.watermark, total, size }
}

async function between(
  resource: Resource,
  context: PlanContext,
  days: { readonly from: string; readonly to: string },
): Promise<Outlook> {
  const { createdBetween } = resource.read as Scan
  const total = await askTotal(resource, context, createdBetween ? { ...createdBetween, ...days } : {})
  const strategy = createdBetween ? 'created days' : 'full list: it has no day filter'
  return total === undefined
    ? { strategy, size: { kind: 'unknown' } }
    : { strategy, total, size: { kind: 'between', total } }
}

/** Before the first sync no id is known, so samples some of the records that refer to them. */
async function firstIds(resource: Resource, context: PlanContext): Promise<KnownSize> {
  const source = idSourceOf(resource, context.key.kind)
  if (source.from === 'events') return { kind: 'none', why: 'found through events and muster discover' }
  if (source.from === 'record')
    return { kind: 'none', why: `included in ${source.resource}; events refer to others` }
  if (!context.client) return { kind: 'unknown' }
  const noNamingList = 'no list that this key can read refers to them; only events do'
  return (await idsToCome(resource.name, context)) ?? { kind: 'none', why: noNamingList }
}

async function recordsById(resource: Resource, context: PlanContext): Promise<Outlook> {
  const { engine, clock } = context
  const strategy = 'by id'
  if (!engine || !(await existingTables(engine)).has('discovered'))
    return { strategy, size: await firstIds(resource, context) }
  const nowMs = clock.now()
  const due = await countDue(engine, {
    resource: resource.name,
    keyScope: null,
    at: new Date(nowMs).toISOString(),
    fetchedBefore: new Date(nowMs - refetchPauseMs).toISOString(),
  })
  const nothing = { requests: 0, paced: 0 }
  const { worth } = await chooseStored(engine, [resource], { nowMs, budget: nothing })
  const again = { retried: due.again, worth: worth.get(resource.name) ?? 0 }
  // Records that another one includes cost no request of their own.
  const isIncluded = idSourceOf(resource, context.key.kind).from === 'record'
  const toCome = isIncluded ? undefined : await idsStillToCome(resource.name, context)
  const size: KnownSize = { kind: 'ids', neverFetched: due.neverFetched, ...again, ...(toCome && { toCome }) }
  return { strategy, size }
}

async function outlook(declared: Resource, context: PlanContext, request: SyncRequest): Promise<Outlook> {
  const { kind } = context.key
  const resource = asReadBy(declared, kind)
  if (!resource || (request.between && !isCollection(resource)))
    return { strategy: 'skipped', size: { kind: 'none', why: cannotRead(declared, kind) } }
  try {
    if (resource.read.strategy === 'byId') return await recordsById(resource, context)
    if (resource.read.strategy === 'snapshot') return await planSnapshot(resource, context)
    if (request.between) return await between(resource, context, request.between)
    return await scan(resource, context)
  } catch (error) {
    if (!(error instanceof AccessDenied || error instanceof NotFound)) throw error
    return { strategy: 'skipped', size: { kind: 'none', why: error.message } }
  }
}

/** The request for quarantined records; snapshots read theirs again anyway. */
async function looksFor(resource: Resource, { engine, clock }: PlanContext): Promise<number> {
  if (!engine || resource.read.strategy === 'snapshot') return 0
  return (await isLookDue(engine, { resource: resource.name, now: clock.now() })) ? 1 : 0
}

function withLook(estimated: Estimate, looks: number): Estimate {
  if (looks === 0) return estimated
  const { low, high, reasoning } = estimated
  return {
    low: low + looks,
    high: high + looks,
    reasoning: `${reasoning}; 1 to look for quarantined records that were fixed`,
  }
}

/** Plans one resource after the other: a plan is small, and its requests appear in the log in a readable order. */
export async function planRun(request: SyncRequest, sources: PlanSources): Promise<PlannedResource[]> {
  const planned: PlannedResource[] = []
  const { engine } = sources
  const isSynced = engine && (await existingTables(engine)).has('scan')
  const before = isSynced ? await readBefore(engine) : new Set<string>()
  const context = { ...sources, readBefore: before, totals: new Map(), samples: new Map() }
  for (const resource of chosenResources(request)) {
    const { strategy, size, watermark = null, total = null } = await outlook(resource, context, request)
    const estimated = estimate(size)
    const looks = request.between ? 0 : await looksFor(resource, context)
    planned.push({ resource: resource.name, strategy, watermark, total, ...withLook(estimated, looks) })
  }
  return planned
}
