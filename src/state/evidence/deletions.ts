/** Witnesses: who saw that a record is gone. One alone proves nothing; `muster sweep` tombstones what has two. */

import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import { unsettled } from './key-scopes.ts'
import { fetchedWith, liveRecords, shownTo } from './missing.ts'
import type { DeletionRow, WitnessRow } from './tables.ts'

export type Witness = Omit<WitnessRow, 'void_at' | 'void_reason'>

/**
 * Remembers that records were found gone; the same word of the same source counts once. Call it inside the transaction
 * of whatever else is written about them.
 */
export async function witness(engine: Engine, rows: readonly Witness[]): Promise<void> {
  const many = 500
  for (let from = 0; from < rows.length; from += many) {
    const values = rows.slice(from, from + many).map(row => ({ ...row, void_at: null, void_reason: null }))
    await ledger(engine)
      .insertInto('ops.witness')
      .values(values)
      .onConflict(conflict => conflict.doNothing())
      .execute()
  }
}

/** Of these only what is said of records that are held live: what was never read can not be gone. */
export async function witnessHeld(
  engine: Engine,
  resource: Resource,
  rows: readonly Omit<Witness, 'resource'>[],
): Promise<void> {
  if (rows.length === 0) return
  const key = `t.${quoteName(resource.table.key)}`
  const ids = rows.map(row => quoteText(row.record_id)).join(', ')
  const held = await engine.rows<{ id: string }>(
    `select ${key} as id from ${liveRecords(resource)} and ${key} in (${ids})`,
  )
  const isHeld = new Set(held.map(({ id }) => id))
  await witness(
    engine,
    rows.filter(row => isHeld.has(row.record_id)).map(row => ({ ...row, resource: resource.name })),
  )
}

/** One witness of a live record, with what the key of that run could see. */
export interface Testimony extends Omit<Witness, 'resource'> {
  readonly scope_id: string | null
  /** Whether the version held was fetched by a run of the scope asked for. */
  readonly is_fetched: boolean
  /** Whether it was fetched by another key, with the lists of the scope asked for, and this is that key's 404. */
  readonly is_predecessors: boolean
}

/** Holds for a 404 of a run `ks` whose scope had shown the row `t`, and has the lists of this one. */
const isPredecessors = (resource: Resource): string =>
  `(w.kind = 'by-id 404' and ks.scope_id <> ${quoteText(unsettled)} and ${shownTo(resource, 'ks.scope_id')}
    and exists (select 1 from ops.key_scope n where n.scope_id = $2 and n.kind = ks.kind
      and n.companies = ks.companies and n.agencies = ks.agencies and n.scopes = ks.scopes))`

/** Witnesses that stand, of records that are held and live; by record. */
export async function testimonies(engine: Engine, resource: Resource, scopeId: string): Promise<Testimony[]> {
  return engine.rows<Testimony>(
    `select w.record_id, w.kind, w.source, w.seen_at, ks.scope_id, ${fetchedWith(resource, scopeId)} as is_fetched,
       coalesce(${isPredecessors(resource)}, false) as is_predecessors
     from ops.witness w join (select * from ${liveRecords(resource)}) as t on t.${quoteName(resource.table.key)} = w.record_id
     left join ops.key_scope ks on ks.run_id = w.source
     where w.resource = $1 and w.void_at is null and w.seen_at >= t.loaded_at order by w.record_id, w.seen_at, w.kind`,
    [resource.name, scopeId],
  )
}

export async function voidWitnesses(
  engine: Engine,
  of: { readonly resource: string; readonly ids: readonly string[] },
  { at, reason }: { readonly at: string; readonly reason: string },
): Promise<void> {
  if (of.ids.length === 0) return
  await ledger(engine)
    .updateTable('ops.witness')
    .set({ void_at: at, void_reason: reason })
    .where('resource', '=', of.resource)
    .where('record_id', 'in', [...of.ids])
    .where('void_at', 'is', null)
    .execute()
}

export async function recordDeletions(engine: Engine, rows: readonly DeletionRow[]): Promise<void> {
  const many = 500
  for (let from = 0; from < rows.length; from += many)
    await ledger(engine)
      .insertInto('ops.deletion')
      .values(rows.slice(from, from + many))
      .execute()
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

/** Resources of which somebody found a record gone that is held live, or may be. */
export async function suspectedResources(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await ledger(engine)
    .selectFrom('ops.witness')
    .select('resource')
    .distinct()
    .where('void_at', 'is', null)
    .execute()
  return new Set(rows.map(({ resource }) => resource))
}

/** Of records that were not seen again since. */
export function standingDeletions(engine: Engine): Promise<DeletionRow[]> {
  return ledger(engine).selectFrom('ops.deletion').selectAll().where('undeleted_at', 'is', null).execute()
}
