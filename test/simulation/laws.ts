/** What must hold at any moment, whatever happened: checked after every night and after every kill. */
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { recordRows } from '../../src/warehouse/schema/record-rows.ts'
import type { ResourceName } from './climate.ts'
import { collectionOf } from './climate.ts'
import type { Ended } from './dag-run.ts'
import { resourceOf } from './oracle.ts'
import type { Service } from './service.ts'

/** How often each law had something to look at: one that never has holds always. */
export const askedLaws = {
  whole: 'law: a sync that ended with 0 is whole',
  rows: 'law: rows of a list that were looked at',
  tombstones: 'law: tombstones that were looked at',
  excused: 'law: records that quarantine excused',
  leftOut: 'law: syncs that could not load records',
  named: 'law: lists that were not whole and had to be named',
  told: 'law: lists that commands had to name',
  refused: 'law: lists told as refused',
  hidden: 'law: lists of which records were hidden',
  candidates: 'law: deleted records that a sweep had to tell of',
  signals: 'law: records by id that an event told of',
  again: 'law: one more sync at rest changes nothing',
  fields: 'law: values of blocked or hashed fields that were looked for',
  published: 'law: published tables that were looked at',
} as const

/** A stored row of a record. */
interface Stored {
  readonly id: string
  readonly updated_at: string | null
  readonly is_deleted: boolean
}

async function storedRows(engine: Engine, resource: Resource): Promise<Map<string, Stored>> {
  const key = resource.table.key
  const rows = await engine.rows<Stored>(
    `select t."${key}" as id, t.source_updated_at as updated_at, t.is_deleted from ${recordRows(resource)}`,
  )
  const byId = new Map(rows.map(row => [row.id, row]))
  if (byId.size < rows.length)
    throw new Error(`${resource.name}: ${rows.length - byId.size} rows are there twice`)
  return byId
}

async function openCases(engine: Engine, { name }: Resource): Promise<Set<string>> {
  const rows = await engine.rows<{ id: string }>(
    'select record_id as id from ops.quarantine where resource = $1 and resolved_at is null',
    [name],
  )
  return new Set(rows.map(({ id }) => id))
}

interface Behind {
  readonly updatedAt: string
  readonly row: Stored | undefined
}

const rowIs = (row: Stored | undefined): string =>
  row ? `its row is of ${row.updated_at}${row.is_deleted ? ' and deleted' : ''}` : 'it has no row'

interface Asked {
  readonly engine: Engine
  readonly service: Service
  readonly list: ResourceName
  /** When the night began, in milliseconds. */
  readonly since: number
}

export interface Situation extends Asked {
  readonly stored: ReadonlyMap<string, Stored>
  /** Ids that quarantine names. */
  readonly excused: ReadonlySet<string>
}

export async function situationOf(asked: Asked): Promise<Situation> {
  const resource = resourceOf(asked.list)
  const stored = await storedRows(asked.engine, resource)
  return { ...asked, stored, excused: await openCases(asked.engine, resource) }
}

/** The key of the simulation is a company's: it is not shown the users of agencies. */
const isShown = ({ role }: Readonly<Record<string, unknown>>): boolean =>
  role !== 'ldAdmin' && role !== 'ldUser'

/** Records that stood still since before the night and are not stored as they are. */
export function behind({ stored, excused, service, list, since }: Situation): Map<string, Behind> {
  const collection = collectionOf(list)
  const missing = new Map<string, Behind>()
  for (const { id: given, updatedAt } of service.world.all(collection).filter(isShown)) {
    const id = String(given)
    if ((service.truthOf(collection, id)?.changedAt ?? 0) >= since || excused.has(id)) continue
    const row = stored.get(id)
    const isCurrent =
      row &&
      !row.is_deleted &&
      (!updatedAt || Date.parse(row.updated_at ?? '') === Date.parse(String(updatedAt)))
    if (!isCurrent) missing.set(id, { updatedAt: String(updatedAt ?? ''), row })
  }
  return missing
}

/** A run that ended with 0 has stored every record that stood still meanwhile. */
export function lawOfExit0(situation: Situation, ended: Ended): string[] {
  if (ended.command !== 'sync' || ended.code !== 0) return []
  return [...behind(situation)].map(
    ([id, { updatedAt, row }]) =>
      `exit 0, but ${situation.list} ${id} of ${updatedAt || 'no time'}: ${rowIs(row)}`,
  )
}

const lookbackMs = 15 * 60_000

/** What lies so far below the watermark that no scan of changes reads it again is stored. */
export async function lawOfWatermark(situation: Situation): Promise<string[]> {
  const { engine, list } = situation
  const [read] = await engine.rows<{ watermark: string | null }>(
    'select watermark from ops.watermark where resource = $1',
    [list],
  )
  if (!read?.watermark) return []
  const reach = Date.parse(read.watermark) - lookbackMs
  const noted = await engine.rows<{ id: string }>(
    'select record_id as id from ops.unread where resource = $1',
    [list],
  )
  const known = new Set(noted.map(({ id }) => id))
  return [...behind(situation)]
    .filter(([id, { updatedAt }]) => Date.parse(updatedAt) < reach && !known.has(id))
    .map(
      ([id, { updatedAt, row }]) =>
        `watermark ${read.watermark}, ${list} ${id} of ${updatedAt}: ${rowIs(row)}`,
    )
}

/** A tombstone stands on a record that is missing at the source, or was at some time. */
export function lawOfTombstones({ stored, service, list }: Situation): string[] {
  const collection = collectionOf(list)
  return [...stored.values()]
    .filter(({ id, is_deleted }) => is_deleted && service.world.get(collection, id))
    .filter(({ id }) => !service.truthOf(collection, id)?.wasDeleted)
    .map(({ id }) => `${list} ${id} is tombstoned, and it was never missing`)
}

/** Requests that a process which died had not recorded yet count for the service, and nobody knows of them. */
const aboutLimits: readonly string[] = ['over-limit', 'told-to-wait']

/** No request is against the contract, or beyond the limits of the minute and the day. */
export function lawOfRequests(service: Service, isAfterKill: boolean): string[] {
  return service
    .newViolations()
    .filter(({ kind }) => !isAfterKill || !aboutLimits.includes(kind))
    .map(violation => `a request broke the contract: ${JSON.stringify(violation)}`)
}
