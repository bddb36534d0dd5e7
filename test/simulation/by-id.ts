/** Records without a list: what an id that is known must have come to, when everything is at rest. */
import { findResource } from '../../src/contract/catalogue.ts'
import { type Resource, singleRead } from '../../src/contract/fields/resource.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { liveRecords } from '../../src/warehouse/schema/record-rows.ts'

import { type ByIdName, collectionOf } from './climate.ts'
import { cellsThatDiffer } from './oracle.ts'
import type { Service } from './service.ts'
import { type Shown, shownRecord } from './source.ts'

interface Known {
  readonly id: string
  readonly state: string
  /** In milliseconds. */
  readonly fetchedAt: number
}

/** Without those that came with another record and were never fetched themselves: their values are in its rows. */
async function knownIds(engine: Engine, name: ByIdName): Promise<Known[]> {
  const rows = await engine.rows<{
    id: string
    state: string
    fetched: string | null
    checked: string | null
  }>(
    `select record_id as id, state, last_fetched_at as fetched, checked_at as checked
     from ops.discovered where resource = $1 and (fetches > 0 or state <> 'stored')`,
    [name],
  )
  return rows.map(({ id, state, fetched, checked }) => ({
    ...{ id, state },
    fetchedAt: Date.parse(checked ?? fetched ?? '1970-01-01T00:00:00.000Z'),
  }))
}

/** Ids that records of other kinds name, as the service shows them. */
const named: Readonly<Partial<Record<ByIdName, (service: Service) => unknown[]>>> = {
  assignments: ({ world }) =>
    world.all('timesheets').map(({ assignment }) => (assignment as Shown | null)?.id),
}

/** A change that was announced, or that came before the last fetch, must be here. */
function mustBeCurrent(service: Service, name: ByIdName, { id, fetchedAt }: Known): boolean {
  const truth = service.truthOf(collectionOf(name), id)
  return !truth || truth.changedAt <= fetchedAt || truth.announcedAt >= truth.changedAt
}

interface Found {
  readonly resource: Resource
  readonly known: Known
  readonly shown: Shown | undefined
  readonly row: Readonly<Record<string, unknown>> | undefined
}

function fault({ resource, known, shown, row }: Found): string[] {
  const what = `${resource.name} ${known.id} (${known.state})`
  if (!shown) return row ? [`${what}: stored, but not at the source`] : []
  return row ? cellsThatDiffer(resource, shown, row) : [`${what}: at the source, but not stored`]
}

/** What differs for one resource, in words; `lists` are those that were read. */
export async function differencesById(
  engine: Engine,
  service: Service,
  at: { readonly name: ByIdName; readonly lists: readonly string[] },
): Promise<string[]> {
  const resource = findResource(at.name) as Resource
  const path = singleRead(resource)
  const known = await knownIds(engine, at.name)
  const rows = await engine.rows<Record<string, unknown>>(`select * from ${liveRecords(resource)}`)
  const byId = new Map(rows.map(row => [String(row[resource.table.key]), row]))
  const ids = new Set(known.map(({ id }) => id))
  const wanted = at.lists.includes('timesheets') ? (named[at.name]?.(service) ?? []) : []
  const found = wanted
    .filter(id => id && !ids.has(String(id)))
    .map(id => `${at.name} ${id}: named, but not known`)
  if (byId.size < rows.length) found.push(`${at.name}: ${rows.length - byId.size} rows twice`)
  for (const one of known.filter(each => mustBeCurrent(service, at.name, each))) {
    const shown = path && (await shownRecord(service.url, { ...path, id: one.id }))
    found.push(...fault({ resource, known: one, shown, row: byId.get(one.id) }))
  }
  return found
}
