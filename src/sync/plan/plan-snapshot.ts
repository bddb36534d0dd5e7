/** What a snapshot will cost: the scopes that are due, and how many pages each has. */
import { lastPage } from '../../api/client/paging.ts'
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import { key } from '../../contract/resources/key.ts'
import { projects } from '../../contract/resources/projects.ts'
import { snapshotPages } from '../../state/scans/past-reads.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { dueScopes, type Scope } from '../snapshot/scopes.ts'
import type { KnownSize } from './estimate.ts'
import { askTotal, type Outlook, type PlanContext } from './outlook.ts'

/** Before the first sync the projects are unknown; their list gives their number. */
async function firstScopes({ per }: Snapshot, context: PlanContext): Promise<number> {
  const companies = context.key.companies?.length ?? 0
  if (per === 'key') return 1
  if (per === 'company') return companies
  if (per === 'companyWindow') return companies * 2
  return companies + ((await askTotal(projects, context)) ?? 0)
}

async function scopesDue(resource: Resource, context: PlanContext): Promise<readonly Scope[] | number> {
  const { engine, clock, key: facts } = context
  if (engine && (await readWatermark(engine, projects.name)))
    return dueScopes({ resource, sync: { engine, clock, key: facts } })
  return firstScopes(resource.read as Snapshot, context)
}

/** Pages of the scopes when they were last read; undefined when one of them never was. */
async function pagesLastTime(
  { engine }: PlanContext,
  resource: string,
  scopes: readonly Scope[],
): Promise<number | undefined> {
  const pages = engine && (await snapshotPages(engine, resource))
  if (!pages || scopes.some(({ name }) => !pages.has(name))) return undefined
  return scopes.reduce((sum, { name }) => sum + (pages.get(name) ?? 0), 0)
}

/** As if every company were as large as the first one; undefined when no request may be sent. */
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

export async function planSnapshot(resource: Resource, context: PlanContext): Promise<Outlook> {
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
