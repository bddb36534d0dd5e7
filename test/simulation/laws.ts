/** The laws that must always hold. They are checked after every process, killed or not. */
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { recordRows } from '../../src/warehouse/schema/record-rows.ts'
import type { CommandResult } from './dag-run.ts'
import { resourceOf } from './oracle.ts'
import type { ResourceName } from './scenario.ts'
import { collectionOf } from './scenario.ts'
import type { Service } from './service.ts'

/** Counters of what each law checked: a law that never has anything to check proves nothing. */
export const lawCounters = {
  complete: 'law: syncs with exit code 0 that had to be complete',
  rows: 'law: rows of a list that were checked',
  tombstones: 'law: tombstones that were checked',
  excused: 'law: records excused by quarantine',
  leftOut: 'law: syncs that could not load some records',
  mustBeReported: 'law: incomplete lists that had to be reported',
  namedByCommands: 'law: lists that commands had to name',
  refused: 'law: lists reported as refused',
  hidden: 'law: lists with hidden records',
  candidates: 'law: deleted records that a sweep had to report',
  signals: 'law: records by id that an event announced',
  repeated: 'law: repeated syncs that had to change nothing',
  fields: 'law: values of blocked or hashed fields that were searched for',
  published: 'law: published tables that were checked',
} as const

/** A stored row of a record. */
interface StoredRow {
  readonly id: string
  readonly updated_at: string | null
  readonly is_deleted: boolean
}

async function storedRows(engine: Engine, resource: Resource): Promise<Map<string, StoredRow>> {
  const key = resource.table.key
  const rows = await engine.rows<StoredRow>(
    `select t."${key}" as id, t.source_updated_at as updated_at, t.is_deleted from ${recordRows(resource)}`,
  )
  const byId = new Map(rows.map(row => [row.id, row]))
  if (byId.size < rows.length) throw new Error(`${resource.name}: ${rows.length - byId.size} duplicate rows`)
  return byId
}

async function quarantinedIds(engine: Engine, { name }: Resource): Promise<Set<string>> {
  const rows = await engine.rows<{ id: string }>(
    'select record_id as id from ops.quarantine where resource = $1 and resolved_at is null',
    [name],
  )
  return new Set(rows.map(({ id }) => id))
}

interface OutdatedRecord {
  readonly updatedAt: string
  readonly row: StoredRow | undefined
}

const describeRow = (row: StoredRow | undefined): string =>
  row ? `its row is from ${row.updated_at}${row.is_deleted ? ' and deleted' : ''}` : 'it has no row'

interface ListScope {
  readonly engine: Engine
  readonly service: Service
  readonly list: ResourceName
  /** When the commands started, in milliseconds. */
  readonly since: number
}

export interface ListSituation extends ListScope {
  readonly stored: ReadonlyMap<string, StoredRow>
  /** Ids in quarantine. */
  readonly excused: ReadonlySet<string>
}

export async function readSituation(scope: ListScope): Promise<ListSituation> {
  const resource = resourceOf(scope.list)
  const stored = await storedRows(scope.engine, resource)
  return { ...scope, stored, excused: await quarantinedIds(scope.engine, resource) }
}

/** The simulation uses a company's key, which does not see users of agencies. */
const isShown = ({ role }: Readonly<Record<string, unknown>>): boolean =>
  role !== 'ldAdmin' && role !== 'ldUser'

/** Records that have not changed since the commands started, and whose row is missing or outdated. */
export function outdatedRecords({
  stored,
  excused,
  service,
  list,
  since,
}: ListSituation): Map<string, OutdatedRecord> {
  const collection = collectionOf(list)
  const outdated = new Map<string, OutdatedRecord>()
  for (const { id: given, updatedAt } of service.world.all(collection).filter(isShown)) {
    const id = String(given)
    if ((service.truthOf(collection, id)?.changedAt ?? 0) >= since || excused.has(id)) continue
    const row = stored.get(id)
    const isCurrent =
      row &&
      !row.is_deleted &&
      (!updatedAt || Date.parse(row.updated_at ?? '') === Date.parse(String(updatedAt)))
    if (!isCurrent) outdated.set(id, { updatedAt: String(updatedAt ?? ''), row })
  }
  return outdated
}

/** A sync with exit code 0 has stored every record that did not change meanwhile. */
export function lawOfExit0(situation: ListSituation, result: CommandResult): string[] {
  if (result.command !== 'sync' || result.code !== 0) return []
  return [...outdatedRecords(situation)].map(
    ([id, { updatedAt, row }]) =>
      `exit 0, but ${situation.list} ${id} from ${updatedAt || 'no time'}: ${describeRow(row)}`,
  )
}

const lookbackMs = 15 * 60_000

/** A record so far below the watermark that no scan of changes reads it again is stored, or noted as unread. */
export async function lawOfWatermark(situation: ListSituation): Promise<string[]> {
  const { engine, list } = situation
  const [read] = await engine.rows<{ watermark: string | null }>(
    'select watermark from ops.watermark where resource = $1',
    [list],
  )
  if (!read?.watermark) return []
  const oldestReread = Date.parse(read.watermark) - lookbackMs
  const unreadRows = await engine.rows<{ id: string }>(
    'select record_id as id from ops.unread where resource = $1',
    [list],
  )
  const known = new Set(unreadRows.map(({ id }) => id))
  return [...outdatedRecords(situation)]
    .filter(([id, { updatedAt }]) => Date.parse(updatedAt) < oldestReread && !known.has(id))
    .map(
      ([id, { updatedAt, row }]) =>
        `watermark ${read.watermark}, ${list} ${id} from ${updatedAt}: ${describeRow(row)}`,
    )
}

/** Only a record that is or was missing in the service has a tombstone. */
export function lawOfTombstones({ stored, service, list }: ListSituation): string[] {
  const collection = collectionOf(list)
  return [...stored.values()]
    .filter(({ id, is_deleted }) => is_deleted && service.world.get(collection, id))
    .filter(({ id }) => !service.truthOf(collection, id)?.wasDeleted)
    .map(({ id }) => `${list} ${id} has a tombstone, but was never missing`)
}

/** Violations that a kill excuses: the service counted requests that the killed process had not recorded yet. */
const limitViolations: readonly string[] = ['over-limit', 'told-to-wait']

/** Every request keeps the contract, and the limits of minute and day. */
export function lawOfRequests(service: Service, isAfterKill: boolean): string[] {
  return service
    .newViolations()
    .filter(({ kind }) => !isAfterKill || !limitViolations.includes(kind))
    .map(violation => `a request broke the contract: ${JSON.stringify(violation)}`)
}
