/** What a batch changes: each staged record beside the row that the warehouse holds of it. */
import type { Resource } from '../../resources/resource.ts'
import type { Engine } from '../engine.ts'
import { isMember } from '../physical.ts'
import { quoteName, quoteText } from '../sql-text.ts'

/**
 * new: not held; stub: held by reference only; changed: another content, not older; same: equal content;
 * stale: older than what is held; gone: held, but absent from a complete snapshot.
 */
export type DeltaState = 'new' | 'stub' | 'changed' | 'same' | 'stale' | 'gone'

export type DeltaCounts = Readonly<Record<DeltaState, number>>

function versionColumn(resource: Resource): string | undefined {
  const { version } = resource
  if (version === undefined) return undefined
  return Object.entries(resource.table.columns).find(
    ([, { source }]) => source.from === 'field' && source.path.join('.') === version,
  )?.[0]
}

/** Old never overwrites new: the source's updatedAt decides, then its version, then the order of fetching. */
function isStale(resource: Resource): string {
  const version = versionColumn(resource)
  const older = 's.source_updated_at < t.source_updated_at'
  if (!version) return older
  return `(${older} or (s.source_updated_at = t.source_updated_at and s.source_version < t.${quoteName(version)}))`
}

function deltaTable(resource: Resource): string {
  const { table } = resource
  const key = `t.${quoteName(table.key)}`
  const stub = isMember(table) ? "when t.is_stub then 'stub'" : ''
  return `create or replace temp table delta as
    select s.locator, s.record_key, s.row_hash, s.source_updated_at, s.loaded_at, s.run_id,
      coalesce(t.first_loaded_at, s.loaded_at) as first_loaded_at,
      case when ${key} is null then 'new' ${stub} when t.is_deleted then 'changed'
        when s.row_hash = t.row_hash then 'same' when ${isStale(resource)} then 'stale' else 'changed' end as state
    from stage_record s left join star.${quoteName(table.name)} t on ${key} = s.record_key`
}

/** The part of a table that a snapshot stands for: rows outside it are not judged by the snapshot. */
export type SnapshotExtent = Readonly<Record<string, string>>

/** What was on the pages and went to quarantine is not gone: its last good version stays. */
function goneRows(
  resource: Resource,
  extent: SnapshotExtent,
  at: { readonly time: string; readonly run: string },
): string {
  const { table } = resource
  const within = Object.entries(extent).map(([column, condition]) => `t.${quoteName(column)} ${condition}`)
  return `insert into delta
    select null, t.${quoteName(table.key)}, null, null, cast(${quoteText(at.time)} as timestamptz), ${quoteText(at.run)}, t.first_loaded_at, 'gone'
    from star.${quoteName(table.name)} t
    where ${[...within, `t.${quoteName(table.key)} <> '-1'`, `not exists (select 1 from stage_seen s where s.id = t.${quoteName(table.key)})`].join(' and ')}
    ${isMember(table) ? 'and not t.is_stub' : ''}`
}

export interface DeltaOptions {
  /** Given for a complete snapshot only: what it covers, and when and by whom it was read. */
  readonly snapshot?: { readonly extent: SnapshotExtent; readonly time: string; readonly run: string }
}

/** Creates the temporary table delta and counts its states. */
export async function createDelta(
  engine: Engine,
  resource: Resource,
  options: DeltaOptions,
): Promise<DeltaCounts> {
  await engine.run(deltaTable(resource))
  if (options.snapshot) await engine.run(goneRows(resource, options.snapshot.extent, options.snapshot))
  const rows = await engine.rows<{ state: DeltaState; n: number }>(
    'select state, count(*) as n from delta group by state',
  )
  const counts = { new: 0, stub: 0, changed: 0, same: 0, stale: 0, gone: 0 }
  for (const row of rows) counts[row.state] = Number(row.n)
  return counts
}
