/** Computes the delta of a batch: compares each staged record with its stored row. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { WriteKind } from '../../state/marts/writes.ts'
import type { Engine, TemporaryTable, Transfer } from '../../warehouse/engine.ts'
import { isMember } from '../../warehouse/schema/physical.ts'
import { beganAt, foundMissingAt } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

/**
 * new: not stored; inferred: stored as an inferred member; changed: different content, not older, or present again;
 * touched: same content with different bookkeeping, such as a later updatedAt; same: equal; stale: older than the
 * stored row, or fetched before the record was found missing; missing: stored, but absent from a complete snapshot.
 */
export type DeltaState = 'new' | 'inferred' | 'changed' | 'touched' | 'same' | 'stale' | 'missing'

export type DeltaCounts = Readonly<Record<DeltaState, number>>

/** What the merge does to the resource's rows; undefined when it writes none. */
export function writeKind(counts: DeltaCounts): WriteKind | undefined {
  if (counts.new + counts.inferred + counts.changed + counts.missing > 0) return 'changes'
  return counts.touched > 0 ? 'touches' : undefined
}

const versionColumn = ({ version, table }: Resource): string | undefined =>
  Object.entries(table.columns).find(
    ([, { source }]) => source.from === 'field' && source.path.join('.') === version,
  )?.[0]

/**
 * Old never overwrites new: the service's updatedAt decides, then its version, then the order of fetching. A stored
 * updatedAt more than a day in the future is wrong, so an earlier one may replace it.
 */
function isStale(resource: Resource): string {
  const version = versionColumn(resource)
  const stored = version ? `t.${quoteName(version)}` : 's.source_version'
  const isCorrected = `(t.source_updated_at > s.loaded_at + interval '1 day' and s.loaded_at > t.loaded_at)`
  return `(s.source_updated_at < t.source_updated_at and not ${isCorrected} or (s.source_updated_at = t.source_updated_at
    and (s.source_version < ${stored} or (s.source_version is not distinct from ${stored} and s.loaded_at < t.loaded_at))))`
}

/** The content part of a row's hash, before the dash. */
const contentHash = (row: string): string => `split_part(${row}.row_hash, '-', 1)`

/** Start of validity of a row's content, unless the previous row had the same content. */
export const beginOfVersion = (row: string): string => `coalesce(${row}.source_updated_at, ${row}.loaded_at)`

function deltaTable(resource: Resource): string {
  const { table } = resource
  const key = `t.${quoteName(table.key)}`
  const inferred = isMember(table) ? "when t.is_inferred then 'inferred'" : ''
  return `create temp table delta as
    select s.locator, s.record_key, s.row_hash, s.source_updated_at, s.loaded_at, s.run_id,
      coalesce(t.first_loaded_at, s.loaded_at) as first_loaded_at,
      case when t.is_deleted then s.loaded_at
        when ${contentHash('s')} = ${contentHash('t')} then ${beganAt}
        else ${beginOfVersion('s')} end as valid_from,
      case when ${key} is null then 'new' ${inferred}
        when t.is_deleted then case when s.loaded_at > ${foundMissingAt} then 'changed' else 'stale' end
        when s.row_hash = t.row_hash then 'same' when ${isStale(resource)} then 'stale'
        when ${contentHash('s')} = ${contentHash('t')} then 'touched' else 'changed' end as state
    from stage_record s left join star.${quoteName(table.name)} t on ${key} = s.record_key`
}

/** The part of a table that a snapshot covers, as conditions by column; other rows are unaffected. */
export type SnapshotExtent = Readonly<Record<string, string>>

/** An extent that was read completely: when its last page was fetched (ISO 8601), and by which run. */
export interface ReadExtent {
  readonly extent: SnapshotExtent
  readonly time: string
  readonly run: string
}

/** Leaves rows outside all extents alone, and the last good version of records on the pages that went to quarantine. */
export type CompleteSnapshot = readonly ReadExtent[]

function within(extent: SnapshotExtent): string {
  const conditions = Object.entries(extent).map(
    ([column, condition]) => `t.${quoteName(column)} ${condition}`,
  )
  return `(${conditions.length === 0 ? 'true' : conditions.join(' and ')})`
}

/** Star rows in the extent, as a subquery for `from`. */
export function storedWithin({ table }: Resource, extent: SnapshotExtent): string {
  const isRow = isMember(table) ? 'and not t.is_inferred' : ''
  return `(select * from star.${quoteName(table.name)} t where ${within(extent)} and t.${quoteName(table.key)} <> '-1' ${isRow})`
}

function missingRows(resource: Resource, read: CompleteSnapshot): string {
  const { table } = resource
  const key = `t.${quoteName(table.key)}`
  const ofExtent = (value: (one: ReadExtent) => string): string =>
    `case ${read.map(one => `when ${within(one.extent)} then ${value(one)}`).join(' ')} end`
  const time = ofExtent(one => `cast(${quoteText(one.time)} as timestamptz)`)
  return `insert into delta
    select null, ${key}, null, null, ${time}, ${ofExtent(({ run }) => quoteText(run))}, t.first_loaded_at, ${time}, 'missing'
    from star.${quoteName(table.name)} t
    where (${read.map(({ extent }) => within(extent)).join(' or ')}) and ${key} <> '-1'
      and not exists (select 1 from stage_seen s where s.id = ${key})
      ${isMember(table) ? 'and not t.is_inferred' : ''}`
}

export interface DeltaOptions {
  readonly records: Transfer
  /** Only for a complete snapshot: what it covers, and when and by which run it was read. */
  readonly snapshot?: CompleteSnapshot
}

/** Stage columns that the comparison reads. */
const records: TemporaryTable = {
  name: 'stage_record',
  columns: [
    { name: 'locator', sql: 'bigint' },
    { name: 'record_key', sql: 'text' },
    { name: 'row_hash', sql: 'text' },
    { name: 'source_updated_at', sql: 'timestamptz' },
    { name: 'source_version', sql: 'bigint' },
    { name: 'loaded_at', sql: 'timestamptz' },
    { name: 'run_id', sql: 'text' },
  ],
  joinedBy: 'record_key',
}

/** Ids on the pages, including those of quarantined records. */
const seenIds: TemporaryTable = {
  name: 'stage_seen',
  columns: [
    { name: 'id', sql: 'text' },
    { name: 'first_pass', sql: 'bigint' },
    { name: 'last_pass', sql: 'bigint' },
    { name: 'front_pass', sql: 'bigint' },
    { name: 'existed_at', sql: 'bigint' },
    { name: 'changed_at', sql: 'bigint' },
  ],
  joinedBy: 'id',
}

/** Sends the input of createDelta, and the ids on the pages if needed, before the merge begins. */
export const sendRecords = (engine: Engine, withIds: boolean): Transfer =>
  engine.send([records, ...(withIds ? [seenIds] : [])])

/** Creates the temporary table delta and counts its states, inside the transaction of the merge. */
export async function createDelta(
  engine: Engine,
  resource: Resource,
  options: DeltaOptions,
): Promise<DeltaCounts> {
  await engine.run('drop table if exists delta')
  await engine.receive(options.records)
  await engine.run(deltaTable(resource))
  if (options.snapshot) await engine.run(missingRows(resource, options.snapshot))
  const rows = await engine.rows<{ state: DeltaState; n: number }>(
    'select state, count(*) as n from delta group by state',
  )
  const counts = { new: 0, inferred: 0, changed: 0, touched: 0, same: 0, stale: 0, missing: 0 }
  for (const row of rows) counts[row.state] = Number(row.n)
  return counts
}
