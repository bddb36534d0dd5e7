/** What a sync or a backfill would read, resource by resource, from the ledger and a few small questions. */
import type { Client } from '../../api/client/client.ts'
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import { lastPage } from '../../api/client/paging.ts'
import type { Resource, Scan, Snapshot } from '../../contract/fields/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { daysBetween, utcDay } from '../../lib/dates.ts'
import { existingTables } from '../../state/existing-tables.ts'
import type { WatermarkTable } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { chosenResources, type SyncRequest } from '../run/sync.ts'
import { dueScopes, type Scope } from '../snapshot/scopes.ts'
import { type Estimate, estimate, type Reading } from './estimate.ts'
import { knownIds } from './plan-by-id.ts'

export interface PlanSources {
  /** A file that has been synced into; undefined before the first sync. */
  readonly engine: Engine | undefined
  /** Undefined when nothing may be asked. */
  readonly client: Client | undefined
  readonly clock: Clock
  readonly key: Pick<KeyInfo, 'kind' | 'companies'>
}

export interface PlannedResource extends Estimate {
  readonly resource: string
  readonly strategy: string
  readonly mark: string | null
  /** Rows of the list, or those between the days asked for; null when not known. */
  readonly total: number | null
}

interface Known {
  readonly strategy: string
  readonly reading: Reading
  readonly mark?: string | null
  readonly total?: number | null
}

interface Sources extends PlanSources {
  /** Answers so far, by request: the same question is not paid for twice. */
  readonly totals: Map<string, number>
}

/** One request for one record tells how many there are; undefined when nothing may be asked. */
async function askTotal(
  resource: Resource,
  { client, totals }: Sources,
  filter: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const query = { ...resource.query, ...filter, page: 1, limit: 1 }
  const question = JSON.stringify([resource.path, query])
  if (!client || totals.has(question)) return totals.get(question)
  const { meta } = await client.getPage(resource.path, query, { purpose: 'operator' })
  totals.set(question, meta.total)
  return meta.total
}

async function pagesDone(engine: Engine | undefined, resource: string): Promise<number> {
  const rows = await engine?.rows<{ n: number | null }>(
    `select cast(sum(pages) as bigint) as n from ops.window
     where resource = $1 and kind = 'backfill' and scope is null`,
    [resource],
  )
  return Number(rows?.[0]?.n ?? 0)
}

/** Average over the last five runs that walked what changed; undefined before the first of them. */
async function usualChanges(engine: Engine, resource: string): Promise<number | undefined> {
  if (!(await existingTables(engine)).has('run_resource')) return undefined
  const rows = await engine.rows<{ n: number }>(
    `select r.records_read as n from ops.run_resource as r
     where r.resource = $1 and r.state = 'done' and exists (
       select 1 from ops.window as w
       where w.run_id = r.run_id and w.resource = r.resource and w.kind = 'incremental')
     order by r.run_id desc limit 5`,
    [resource],
  )
  if (rows.length === 0) return undefined
  return rows.reduce((sum, row) => sum + Number(row.n), 0) / rows.length
}

async function firstWalk(
  resource: Resource,
  sources: Sources,
  mark: WatermarkTable | undefined,
): Promise<Known> {
  const remembered = mark?.remembered_total ?? undefined
  const total = remembered === undefined ? await askTotal(resource, sources) : Number(remembered)
  const strategy = mark ? 'first sync, under way' : 'first sync'
  if (total === undefined) return { strategy, reading: { kind: 'unknown' } }
  const canWindow = (resource.read as Scan).createdBetween !== undefined
  const done = await pagesDone(sources.engine, resource.name)
  return { strategy, total, reading: { kind: 'backfill', total, canWindow, pagesDone: done } }
}

async function walk(resource: Resource, sources: Sources): Promise<Known> {
  const { engine, clock } = sources
  const mark = engine && (await readWatermark(engine, resource.name))
  if (!engine || !mark?.backfilled_at) return firstWalk(resource, sources, mark)
  const total = Number(mark.remembered_total ?? 0)
  const changed = await usualChanges(engine, resource.name)
  const days = daysBetween(utcDay(mark.moved_at), utcDay(clock.now()))
  const reading: Reading = { kind: 'changes', total, changed, days }
  return { strategy: 'what changed', mark: mark.mark, total, reading }
}

async function between(
  resource: Resource,
  sources: Sources,
  days: { readonly from: string; readonly to: string },
): Promise<Known> {
  const { createdBetween } = resource.read as Scan
  const total = await askTotal(resource, sources, createdBetween ? { ...createdBetween, ...days } : {})
  const strategy = createdBetween ? 'created days' : 'whole list: it has no filter of days'
  return total === undefined
    ? { strategy, reading: { kind: 'unknown' } }
    : { strategy, total, reading: { kind: 'between', total } }
}

/** Before the first sync the projects are not known: their number is the total of another list. */
async function firstScopes(
  { per }: Snapshot,
  sources: Sources,
  projects: Resource | undefined,
): Promise<number> {
  const companies = sources.key.companies?.length ?? 0
  if (per === 'key') return 1
  if (per === 'company') return companies
  if (per === 'companyWindow') return companies * 2
  return companies + ((projects && (await askTotal(projects, sources))) ?? 0)
}

/** Pages of the scopes when they were read last; undefined when one of them was not. */
async function pagesLastTime(
  { engine }: Sources,
  resource: string,
  scopes: readonly Scope[],
): Promise<number | undefined> {
  const rows = await engine?.rows<{ scope: string; pages: number }>(
    `select scope, max(pages) as pages from ops.window
     where resource = $1 and kind = 'snapshot' and state = 'accepted' group by scope`,
    [resource],
  )
  const pages = new Map(rows?.map(row => [row.scope, Number(row.pages)]))
  if (scopes.some(({ name }) => !pages.has(name))) return undefined
  return scopes.reduce((sum, { name }) => sum + (pages.get(name) ?? 0), 0)
}

/** As if all companies were as large as the first; undefined when that may not be asked. */
async function pagesByFirst(
  resource: Resource,
  sources: Sources,
  scopes: number,
): Promise<number | undefined> {
  const [first, ...others] = sources.key.companies ?? []
  const { per } = resource.read as Snapshot
  const path = resource.path.replace('{company}', encodeURIComponent(first?.id ?? ''))
  const filter: Readonly<Record<string, string>> =
    per === 'companyWindow' && first ? { company: first.id } : {}
  const total = await askTotal({ ...resource, path }, sources, filter)
  if (total === undefined) return undefined
  const lists = per === 'key' ? 1 : others.length + 1
  return Math.max(scopes, lists * lastPage(total))
}

async function scopesDue(resource: Resource, sources: Sources): Promise<readonly Scope[] | number> {
  const { engine, clock, key } = sources
  if (engine && (await readWatermark(engine, 'projects')))
    return dueScopes({ resource, sync: { engine, clock, key } })
  const [projects] = chosenResources({ resources: ['projects'] })
  return firstScopes(resource.read as Snapshot, sources, projects)
}

async function snapshot(resource: Resource, sources: Sources): Promise<Known> {
  const strategy = 'snapshot'
  if (resource.name === 'key') return { strategy, reading: { kind: 'key' } }
  const due = await scopesDue(resource, sources)
  const scopes = typeof due === 'number' ? due : due.length
  const reading = (pages: number | undefined, source: string, isCounted: boolean): Known => ({
    strategy,
    reading: { kind: 'snapshot', scopes, pages, source, isCounted },
  })
  if ((resource.read as Snapshot).rows !== 'data') return reading(scopes, 'a page each', true)
  const last = typeof due === 'number' ? undefined : await pagesLastTime(sources, resource.name, due)
  if (last !== undefined) return reading(last, 'as last time', true)
  const pages = scopes === 0 ? 0 : await pagesByFirst(resource, sources, scopes)
  if (pages === undefined) return reading(undefined, 'of unknown size', false)
  return reading(pages, 'by the size of the first', false)
}

/** Undefined when it is not known, and was not to be asked for. */
async function walkedTotal(name: string, sources: Sources): Promise<number | undefined> {
  const [resource] = chosenResources({ resources: [name] })
  return resource && (await askTotal(resource, sources))
}

async function known(resource: Resource, sources: Sources, request: SyncRequest): Promise<Known> {
  if (resource.keys === 'company' && sources.key.kind === 'agency')
    return { strategy: 'skipped', reading: { kind: 'none', why: 'agency keys cannot read it' } }
  try {
    if (resource.read.strategy === 'byId')
      return await knownIds(resource, sources, () => walkedTotal('timesheets', sources))
    if (resource.read.strategy === 'snapshot') return await snapshot(resource, sources)
    if (request.between) return await between(resource, sources, request.between)
    return await walk(resource, sources)
  } catch (error) {
    if (!(error instanceof AccessDenied || error instanceof NotFound)) throw error
    return { strategy: 'skipped', reading: { kind: 'none', why: error.message } }
  }
}

/** One after the other: a plan is small, and its questions come in an order that people can follow in a log. */
export async function planRun(request: SyncRequest, sources: PlanSources): Promise<PlannedResource[]> {
  const planned: PlannedResource[] = []
  const remembering = { ...sources, totals: new Map<string, number>() }
  for (const resource of chosenResources(request)) {
    const { strategy, reading, mark = null, total = null } = await known(resource, remembering, request)
    planned.push({ resource: resource.name, strategy, mark, total, ...estimate(reading) })
  }
  return planned
}
