/** What a sync or a backfill would read, resource by resource, from the ledger and a few small requests. */
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import { idSourceOf } from '../../contract/derived/discovery.ts'
import {
  asReadBy,
  cannotRead,
  isCollection,
  type Resource,
  type Scan,
} from '../../contract/fields/resource.ts'
import { daysBetween, utcDay } from '../../lib/dates.ts'
import { countDue } from '../../state/by-id/due.ts'
import { isLookDue } from '../../state/evidence/quarantine-looks.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { backfilledPages, usualChanges } from '../../state/scans/past-reads.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { chooseStored } from '../by-id/choose-stored.ts'
import { refetchPauseMs } from '../by-id/refresh-worth.ts'
import { chosenResources, type SyncRequest } from '../run/sync.ts'
import { type Estimate, estimate, type KnownSize } from './estimate.ts'
import { idsToCome } from './ids-to-come.ts'
import { askTotal, type Outlook, type PlanContext, type PlanSources } from './outlook.ts'
import { planSnapshot } from './plan-snapshot.ts'

export interface PlannedResource extends Estimate {
  readonly resource: string
  readonly strategy: string
  readonly watermark: string | null
  /** Rows of the list, or those between the days asked for; null when not known. */
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
  const changed = await usualChanges(engine, resource.name)
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
  const strategy = createdBetween ? 'created days' : 'whole list: it has no filter of days'
  return total === undefined
    ? { strategy, size: { kind: 'unknown' } }
    : { strategy, total, size: { kind: 'between', total } }
}

/** Before the first sync no id is known: some of the records that name them are looked at. */
async function firstIds(resource: Resource, context: PlanContext): Promise<KnownSize> {
  const source = idSourceOf(resource, context.key.kind)
  if (source.from === 'events') return { kind: 'none', why: 'events and muster discover name them' }
  if (source.from === 'record')
    return { kind: 'none', why: `${source.resource} bring them; events name others` }
  if (!context.client) return { kind: 'unknown' }
  const nobody = 'no list that this key reads names them; events do'
  return (await idsToCome(resource.name, context)) ?? { kind: 'none', why: nobody }
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
  return { strategy, size: { kind: 'ids', neverFetched: due.neverFetched, ...again } }
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

/** The request for quarantined records, which snapshots read again anyway. */
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
    reasoning: `${reasoning}; 1 to look for quarantined records that were mended`,
  }
}

/** One resource after the other: a plan is small, and its requests stand in the log in an order that people can follow. */
export async function planRun(request: SyncRequest, sources: PlanSources): Promise<PlannedResource[]> {
  const planned: PlannedResource[] = []
  const context = { ...sources, totals: new Map(), samples: new Map() }
  for (const resource of chosenResources(request)) {
    const { strategy, size, watermark = null, total = null } = await outlook(resource, context, request)
    const estimated = estimate(size)
    const looks = request.between ? 0 : await looksFor(resource, context)
    planned.push({ resource: resource.name, strategy, watermark, total, ...withLook(estimated, looks) })
  }
  return planned
}
