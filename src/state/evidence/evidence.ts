/** Records evidence of deletions and the deletions themselves: `muster sweep` needs two pieces of evidence for a tombstone. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { chunks, ledger, onlyRow } from '../ledger.ts'
import { unsettled } from './key-scopes.ts'
import { fetchedWith, outOfSight, shownTo } from './swept-records.ts'
import type { DeletionRow, EvidenceRow } from './tables.ts'

export type EvidenceEntry = Omit<EvidenceRow, 'void_at' | 'void_reason'>

/** Evidence of one kind from one source counts once. Runs in the caller's transaction. */
export async function recordEvidence(engine: Engine, rows: readonly EvidenceEntry[]): Promise<void> {
  for (const some of chunks(rows)) {
    const values = some.map(row => ({ ...row, void_at: null, void_reason: null }))
    await ledger(engine)
      .insertInto('ops.evidence')
      .values(values)
      .onConflict(conflict => conflict.doNothing())
      .execute()
  }
}

/** Only against stored, live records: a record that was never read cannot be missing. */
export async function recordEvidenceOfStored(
  engine: Engine,
  resource: Resource,
  rows: readonly Omit<EvidenceEntry, 'resource'>[],
): Promise<void> {
  if (rows.length === 0) return
  const key = recordKey(resource)
  const ids = rows.map(row => quoteText(row.record_id)).join(', ')
  const stored = await engine.rows<{ id: string }>(
    `select ${key} as id from ${liveRecords(resource)} and ${key} in (${ids})`,
  )
  const isStored = new Set(stored.map(({ id }) => id))
  await recordEvidence(
    engine,
    rows.filter(row => isStored.has(row.record_id)).map(row => ({ ...row, resource: resource.name })),
  )
}

/** Evidence that is not void, with what the key of its run could see. */
export interface StandingEvidence extends Omit<EvidenceEntry, 'resource'> {
  readonly scope_id: string | null
  /** Whether a run of the given scope fetched the stored version. */
  readonly is_fetched: boolean
  /** Whether another key with the lists of the given scope fetched it, and this is that key's 404. */
  readonly is_predecessors: boolean
}

/** True for a 404 of a run `ks` whose scope had shown the row `t` and has the lists of the given scope. */
const isPredecessors = (resource: Resource): string =>
  `(e.kind = 'by-id 404' and ks.scope_id <> ${quoteText(unsettled)} and ${shownTo(resource, 'ks.scope_id')}
    and exists (select 1 from ops.key_scope n where n.scope_id = $2 and n.kind = ks.kind
      and n.companies = ks.companies and n.agencies = ks.agencies and n.scopes = ks.scopes))`

/** Only of stored, live records, grouped by record. */
export async function standingEvidence(
  engine: Engine,
  resource: Resource,
  scopeId: string,
): Promise<StandingEvidence[]> {
  return engine.rows<StandingEvidence>(
    `select e.record_id, e.kind, e.source, e.seen_at, ks.scope_id, ${fetchedWith(resource, scopeId)} as is_fetched,
       coalesce(${isPredecessors(resource)}, false) as is_predecessors
     from ops.evidence e join (select * from ${liveRecords(resource)}) as t on ${recordKey(resource)} = e.record_id
     left join ops.key_scope ks on ks.run_id = e.source
     where e.resource = $1 and e.void_at is null and e.seen_at >= t.loaded_at order by e.record_id, e.seen_at, e.kind`,
    [resource.name, scopeId],
  )
}

/** Up to three live records without evidence, as controls that must answer by id; the scope's latest fetches first. */
export async function controlIds(engine: Engine, resource: Resource, scopeId: string): Promise<string[]> {
  const key = recordKey(resource)
  const rows = await engine.rows<{ id: string }>(
    `select ${key} as id, ${fetchedWith(resource, scopeId)} as is_fetched
     from ${liveRecords(resource)} and not ${outOfSight(resource, scopeId)}
       and not exists (select 1 from ops.evidence e where e.resource = ${quoteText(resource.name)}
         and e.record_id = ${key} and e.void_at is null)
       and not exists (select 1 from ops.discovered d where d.resource = ${quoteText(resource.name)}
         and d.record_id = ${key} and d.state = 'refused')
     order by 2 desc, t.loaded_at desc, 1 limit 3`,
  )
  return rows.map(({ id }) => id)
}

export async function voidEvidence(
  engine: Engine,
  of: { readonly resource: string; readonly ids: readonly string[] },
  { at, reason }: { readonly at: string; readonly reason: string },
): Promise<void> {
  if (of.ids.length === 0) return
  await ledger(engine)
    .updateTable('ops.evidence')
    .set({ void_at: at, void_reason: reason })
    .where('resource', '=', of.resource)
    .where('record_id', 'in', [...of.ids])
    .where('void_at', 'is', null)
    .execute()
}

export async function resourcesWithEvidence(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await ledger(engine)
    .selectFrom('ops.evidence')
    .select('resource')
    .distinct()
    .where('void_at', 'is', null)
    .execute()
  return new Set(rows.map(({ resource }) => resource))
}

export interface OpenCases {
  /** Evidence and deletions that a record on a page could contradict. */
  readonly contested: number
  /** Records in quarantine. */
  readonly quarantined: number
}

/** Counted once per batch: most resources have none, which saves all further queries. */
export async function openCases(engine: Engine, resource: string): Promise<OpenCases> {
  const { contested, quarantined } = await onlyRow<OpenCases>(
    engine,
    `select (select count(*) from ops.evidence where resource = $1 and void_at is null)
       + (select count(*) from ops.deletion where resource = $1 and undeleted_at is null) as contested,
       (select count(*) from ops.quarantine where resource = $1 and resolved_at is null) as quarantined`,
    [resource],
  )
  return { contested: Number(contested), quarantined: Number(quarantined) }
}

/**
 * A record on a page fetched after the evidence exists: voids the evidence and ends the deletion. Runs inside a merge, which
 * clears the tombstones itself, while the temporary table stage_record exists.
 */
export async function recordSightings(engine: Engine, resource: string): Promise<void> {
  const of = `from stage_record as s where x.resource = ${quoteText(resource)} and s.record_key = x.record_id`
  await engine.run(
    `update ops.deletion as x set undeleted_at = s.loaded_at, undeleted_by = s.run_id
     ${of} and x.undeleted_at is null and s.loaded_at > x.deleted_at`,
  )
  await engine.run(
    `update ops.evidence as x set void_at = s.loaded_at, void_reason = 'read again by run ' || s.run_id
     ${of} and x.void_at is null and s.loaded_at > x.seen_at`,
  )
}

export async function recordDeletions(engine: Engine, rows: readonly DeletionRow[]): Promise<void> {
  for (const some of chunks(rows)) await ledger(engine).insertInto('ops.deletion').values(some).execute()
}

export async function recordUndeletions(
  engine: Engine,
  of: { readonly resource: string; readonly ids: readonly string[] },
  by: { readonly at: string; readonly run: string },
): Promise<void> {
  if (of.ids.length === 0) return
  await ledger(engine)
    .updateTable('ops.deletion')
    .set({ undeleted_at: by.at, undeleted_by: by.run })
    .where('resource', '=', of.resource)
    .where('record_id', 'in', [...of.ids])
    .where('undeleted_at', 'is', null)
    .execute()
}

/** Deletions of records that have not come back. */
export function standingDeletions(engine: Engine): Promise<DeletionRow[]> {
  return ledger(engine).selectFrom('ops.deletion').selectAll().where('undeleted_at', 'is', null).execute()
}
