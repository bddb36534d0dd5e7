/** Compares records that are read by id with the service: in the quiet days at the end, and after events. */
import { findResource } from '../../src/contract/catalogue.ts'
import { type Resource, singleRead } from '../../src/contract/fields/resource.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { liveRecords } from '../../src/warehouse/schema/record-rows.ts'
import { cellsThatDiffer } from './oracle.ts'
import { type ByIdName, collectionOf } from './scenario.ts'
import type { Service } from './service.ts'
import { readShownRecord, type ShownRecord } from './source.ts'

interface KnownId {
  readonly id: string
  readonly state: string
  /** Why there is no row, as `status` reports it. */
  readonly reason: string | null
  /** In milliseconds. */
  readonly fetchedAt: number
}

/** Leaves out records that came inside another record and were never fetched: their values are in its rows. */
async function knownIds(engine: Engine, name: ByIdName): Promise<KnownId[]> {
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

/** Ids that records of other resources refer to, as the service shows them. */
const referencedIds: Readonly<Partial<Record<ByIdName, (service: Service) => unknown[]>>> = {
  assignments: ({ world }) =>
    world.all('timesheets').map(({ assignment }) => (assignment as ShownRecord | null)?.id),
}

/** Whether an event announced the last change. That change must be stored. */
function isAnnounced(service: Service, name: ByIdName, { id }: KnownId): boolean {
  const truth = service.truthOf(collectionOf(name), id)
  return truth !== undefined && truth.announcedAt >= truth.changedAt
}

/** Whether the last change must be stored: it came before the last fetch, or an event announced it. */
function mustBeCurrent(service: Service, name: ByIdName, known: KnownId): boolean {
  const truth = service.truthOf(collectionOf(name), known.id)
  return !truth || truth.changedAt <= known.fetchedAt || isAnnounced(service, name, known)
}

interface ComparedRecord {
  readonly resource: Resource
  readonly known: KnownId
  readonly shown: ShownRecord | undefined
  readonly row: Readonly<Record<string, unknown>> | undefined
}

function compareRecord({ resource, known, shown, row }: ComparedRecord): string[] {
  const what = `${resource.name} ${known.id} (${known.state})`
  if (!shown) return row ? [`${what}: stored, but not in the service`] : []
  return row ? cellsThatDiffer(resource, shown, row) : [`${what}: in the service, but not stored`]
}

interface ByIdScope {
  readonly engine: Engine
  readonly service: Service
  readonly name: ByIdName
}

async function compareRecords(
  { engine, service, name }: ByIdScope,
  known: readonly KnownId[],
): Promise<string[]> {
  const resource = findResource(name) as Resource
  const path = singleRead(resource)
  const rows = await engine.rows<Record<string, unknown>>(`select * from ${liveRecords(resource)}`)
  const byId = new Map(rows.map(row => [String(row[resource.table.key]), row]))
  const found = byId.size < rows.length ? [`${name}: ${rows.length - byId.size} duplicate rows`] : []
  for (const one of known) {
    const shown = path && (await readShownRecord(service.url, { ...path, id: one.id }))
    found.push(...compareRecord({ resource, known: one, shown, row: byId.get(one.id) }))
  }
  return found
}

/** Describes each difference of one resource. `lists` are the lists that the seed reads. */
export async function differencesById(scope: ByIdScope, lists: readonly string[]): Promise<string[]> {
  const { engine, service, name } = scope
  const known = await knownIds(engine, name)
  const ids = new Set(known.map(({ id }) => id))
  const referenced = lists.includes('timesheets') ? (referencedIds[name]?.(service) ?? []) : []
  const unknown = referenced
    .filter(id => id && !ids.has(String(id)))
    .map(id => `${name} ${id}: referenced, but not known`)
  const faults = await compareRecords(
    scope,
    known.filter(each => mustBeCurrent(service, name, each)),
  )
  return [...unknown, ...faults]
}

interface AnnouncedRecords {
  /** How many records were checked. */
  readonly checked: number
  /** How many records have a current version that is in quarantine because no table can hold it. */
  readonly excused: number
  readonly faults: readonly string[]
}

/** Ids in quarantine, with the time at which their last version was fetched, in milliseconds. */
async function lastQuarantined(engine: Engine, name: ByIdName): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.rows<{ id: string; at: string }>(
    `select record_id as id, max(seen_at) as at from ops.quarantine
     where resource = $1 and resolved_at is null and record_id is not null group by 1`,
    [name],
  )
  return new Map(rows.map(({ id, at }) => [id, Date.parse(at)]))
}

/** After a sync with exit code 0, records that earlier events announced are known and equal the service. */
export async function lawOfSignals(scope: ByIdScope): Promise<AnnouncedRecords> {
  const { engine, service, name } = scope
  const known = await knownIds(engine, name)
  const quarantine = await lastQuarantined(engine, name)
  const changedAt = (id: string): number => service.truthOf(collectionOf(name), id)?.changedAt ?? 0
  const isExcused = ({ id }: KnownId): boolean => (quarantine.get(id) ?? -1) >= changedAt(id)
  // Muster reports a record that the service refused, and reads it again later.
  const isReported = ({ state, reason }: KnownId): boolean => state === 'refused' && reason !== null
  const current = known.filter(each => !isReported(each) && isAnnounced(service, name, each))
  const announced = current.filter(each => !isExcused(each))
  const ids = new Set(known.map(({ id }) => id))
  const announcedIds = service.announced(collectionOf(name))
  const unknown = announcedIds.filter(id => !ids.has(id)).map(id => `${name} ${id} is not known`)
  const faults = await compareRecords(scope, announced)
  // A deletion needs a second piece of evidence, so the row may still be there.
  const needsMoreEvidence = (text: string): boolean =>
    text.includes('(missing): stored, but not in the service')
  const broken = [...unknown, ...faults.filter(text => !needsMoreEvidence(text))]
  return {
    checked: announced.length + unknown.length,
    excused: current.length - announced.length,
    faults: broken.map(text => `announced by an event, but ${text}`),
  }
}
