/**
 * Divides a snapshot into scopes: all that the key can see, each company, each project, or a part of each company's
 * rows.
 */
import type { KeyInfo } from '../../api/client/key.ts'
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { firstOfMonth, utcDay } from '../../lib/dates.ts'
import type { SnapshotExtent } from '../../load/merge/delta.ts'
import { lastReadings } from '../../state/scans/scopes.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

export interface SnapshotScope {
  /** Names the scope in the ledger of scans. */
  readonly name: string
  /** Scope columns of its rows. */
  readonly columns: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly company?: string
  /** Read again only once the last reading is this old. */
  readonly refreshDays?: number
  /** Which warehouse rows belong to the scope: conditions by column, with quoted values. */
  readonly extent: SnapshotExtent
}

export const pathOf = ({ path }: Pick<Resource, 'path'>, { company = '' }: SnapshotScope): string =>
  path.replace('{company}', () => encodeURIComponent(company))

/** Part of a task; also available to a plan, which reads nothing. */
export interface ScopeContext {
  readonly resource: Resource
  readonly sync: {
    readonly engine: Engine
    readonly clock: Clock
    readonly key: Pick<KeyInfo, 'companies'>
  }
}

const is = (value: string): string => `= ${quoteText(value)}`

/** Recent requisitions still change; older ones rarely do. */
const recentMonths = 3

/**
 * Splits a company's rows at a day: the recent part is read every time, the older part weekly. Each requests two days
 * more than it loads, because it is unknown which time zone the day filter uses, and whether it is inclusive.
 */
function windowsOf(
  company: string,
  boundary: string,
  refreshDays: number,
): [recent: SnapshotScope, older: SnapshotScope] {
  const base = { columns: { company_id: company }, company }
  const column = 'requisition_created_date'
  const day = `date ${quoteText(boundary)}`
  return [
    {
      ...base,
      name: `${company} since ${boundary}`,
      query: { company, from: utcDay(boundary, -2) },
      extent: { company_id: is(company), [column]: `>= ${day}` },
    },
    {
      ...base,
      name: `${company} before ${boundary}`,
      query: { company, to: utcDay(boundary, 2) },
      refreshDays,
      extent: { company_id: is(company), [column]: `< ${day}` },
    },
  ]
}

async function projectsOf(task: ScopeContext, company: string): Promise<string[]> {
  const rows = await task.sync.engine.rows<{ id: string }>(
    `select project_id as id from star.dim_project
     where company_id = $1 and not is_inferred and not is_deleted and project_id <> '-1' order by project_id`,
    [company],
  )
  return rows.map(row => row.id)
}

async function matrixScopes(
  task: ScopeContext,
  company: string,
  refreshDays: number,
): Promise<SnapshotScope[]> {
  const scope = (project: string): SnapshotScope => ({
    name: project === '-1' ? company : `${company} ${project}`,
    columns: { company_id: company, project_id: project },
    query: project === '-1' ? {} : { projectId: project },
    company,
    ...(project !== '-1' && { refreshDays }),
    extent: { company_id: is(company), project_id: is(project) },
  })
  return [scope('-1'), ...(await projectsOf(task, company)).map(scope)]
}

/** Every scope of the resource, in reading order. */
export async function scopesOf(task: ScopeContext): Promise<SnapshotScope[]> {
  const { per, refreshDays = 7 } = task.resource.read as Snapshot
  if (per === 'key') return [{ name: 'key', columns: {}, query: {}, extent: {} }]
  const companies = (task.sync.key.companies ?? []).map(company => company.id)
  const scopes: SnapshotScope[] = []
  for (const company of companies) {
    if (per === 'company')
      scopes.push({
        name: company,
        columns: { company_id: company },
        query: {},
        company,
        extent: { company_id: is(company) },
      })
    if (per === 'companyProject') scopes.push(...(await matrixScopes(task, company, refreshDays)))
  }
  if (per === 'companyWindow') {
    const boundary = firstOfMonth(task.sync.clock.now(), -recentMonths)
    const windows = companies.map(company => windowsOf(company, boundary, refreshDays))
    // The same part of every company shares a load.
    scopes.push(...windows.map(([recent]) => recent), ...windows.map(([, older]) => older))
  }
  return scopes
}

/** Scopes that are due: those read every time, and those whose last reading is too old. */
export async function dueScopes(task: ScopeContext): Promise<SnapshotScope[]> {
  const scopes = await scopesOf(task)
  const read = await lastReadings(task.sync.engine, task.resource.name)
  return scopes.filter(({ name, refreshDays }) => {
    const last = read.get(name)?.accepted_at
    if (refreshDays === undefined || last === undefined) return true
    const now = task.sync.clock.now()
    return last.slice(0, 10) <= utcDay(now, -refreshDays) || Date.parse(last) > now
  })
}
