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
  /** Why there is no row, as `status` says it. */
  readonly reason: string | null
  /** In milliseconds. */
  readonly fetchedAt: number
}

/** Without those that came with another record and were never fetched themselves: their values are in its rows. */
async function knownIds(engine: Engine, name: ByIdName): Promise<Known[]> {
  const rows = await engine.rows<{
    id: string
    state: string
    reason: string | null
    fetched: string | null
    checked: string | null
  }>(
    `select record_id as id, state, reason, last_fetched_at as fetched, checked_at as checked
     from ops.discovered where resource = $1 and (fetches > 0 or state <> 'stored')`,
    [name],
  )
  return rows.map(({ id, state, reason, fetched, checked }) => ({
    ...{ id, state, reason },
    fetchedAt: Date.parse(checked ?? fetched ?? '1970-01-01T00:00:00.000Z'),
  }))
}

/** Ids that records of other kinds name, as the service shows them. */
const named: Readonly<Partial<Record<ByIdName, (service: Service) => unknown[]>>> = {
  assignments: ({ world }) =>
    world.all('timesheets').map(({ assignment }) => (assignment as Shown | null)?.id),
}

/** A change that was announced must be here. */
function isAnnounced(service: Service, name: ByIdName, { id }: Known): boolean {
  const truth = service.truthOf(collectionOf(name), id)
  return truth !== undefined && truth.announcedAt >= truth.changedAt
}

/** So must one that came before the last fetch. */
function mustBeCurrent(service: Service, name: ByIdName, known: Known): boolean {
  const truth = service.truthOf(collectionOf(name), known.id)
  return !truth || truth.changedAt <= known.fetchedAt || isAnnounced(service, name, known)
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

interface Looked {
  readonly engine: Engine
  readonly service: Service
  readonly name: ByIdName
}

async function faultsOf({ engine, service, name }: Looked, known: readonly Known[]): Promise<string[]> {
  const resource = findResource(name) as Resource
  const path = singleRead(resource)
  const rows = await engine.rows<Record<string, unknown>>(`select * from ${liveRecords(resource)}`)
  const byId = new Map(rows.map(row => [String(row[resource.table.key]), row]))
  const found = byId.size < rows.length ? [`${name}: ${rows.length - byId.size} rows twice`] : []
  for (const one of known) {
    const shown = path && (await shownRecord(service.url, { ...path, id: one.id }))
    found.push(...fault({ resource, known: one, shown, row: byId.get(one.id) }))
  }
  return found
}

/** What differs for one resource, in words; `lists` are those that were read. */
export async function differencesById(looked: Looked, lists: readonly string[]): Promise<string[]> {
  const { engine, service, name } = looked
  const known = await knownIds(engine, name)
  const ids = new Set(known.map(({ id }) => id))
  const wanted = lists.includes('timesheets') ? (named[name]?.(service) ?? []) : []
  const unknown = wanted
    .filter(id => id && !ids.has(String(id)))
    .map(id => `${name} ${id}: named, but not known`)
  const faults = await faultsOf(
    looked,
    known.filter(each => mustBeCurrent(service, name, each)),
  )
  return [...unknown, ...faults]
}

interface AnnouncedRecords {
  /** How many were looked at. */
  readonly asked: number
  /** Of how many quarantine has a version that was fetched since they changed: no table can hold it. */
  readonly excused: number
  readonly faults: readonly string[]
}

/** Ids in quarantine, and when the page of their last version was fetched, in milliseconds. */
async function lastQuarantined(engine: Engine, name: ByIdName): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.rows<{ id: string; at: string }>(
    `select record_id as id, max(seen_at) as at from ops.quarantine
     where resource = $1 and resolved_at is null and record_id is not null group by 1`,
    [name],
  )
  return new Map(rows.map(({ id, at }) => [id, Date.parse(at)]))
}

/** After a sync that ended with 0, records that events told of before it are known, and as they are at the source. */
export async function lawOfSignals(looked: Looked): Promise<AnnouncedRecords> {
  const { engine, service, name } = looked
  const known = await knownIds(engine, name)
  const quarantine = await lastQuarantined(engine, name)
  const changedAt = (id: string): number => service.truthOf(collectionOf(name), id)?.changedAt ?? 0
  const isExcused = ({ id }: Known): boolean => (quarantine.get(id) ?? -1) >= changedAt(id)
  // Muster names one that the service refused, and reads it again later.
  const isNamed = ({ state, reason }: Known): boolean => state === 'refused' && reason !== null
  const current = known.filter(each => !isNamed(each) && isAnnounced(service, name, each))
  const announced = current.filter(each => !isExcused(each))
  const ids = new Set(known.map(({ id }) => id))
  const told = service.announced(collectionOf(name))
  const unknown = told.filter(id => !ids.has(id)).map(id => `${name} ${id} is not known`)
  const faults = await faultsOf(looked, announced)
  // A record that is missing takes a second piece of evidence; one that is there is not missing.
  const waits = (text: string): boolean => text.includes('(missing): stored, but not at the source')
  const ours = [...unknown, ...faults.filter(text => !waits(text))]
  return {
    asked: announced.length + unknown.length,
    excused: current.length - announced.length,
    faults: ours.map(text => `an event told of it, but ${text}`),
  }
}
