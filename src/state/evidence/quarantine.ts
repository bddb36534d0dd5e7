/** Keeps records that could not be loaded until a later version can be. */
import type { Engine } from '../../warehouse/engine.ts'
import { chunks, ledger } from '../ledger.ts'
import type { OpenCases } from './evidence.ts'
import type { QuarantineRow } from './tables.ts'

async function addRows(engine: Engine, rows: readonly QuarantineRow[]): Promise<void> {
  const distinct = [...new Map(rows.map(row => [row.quarantine_id, row])).values()]
  for (const some of chunks(distinct))
    await ledger(engine)
      .insertInto('ops.quarantine')
      .values(some)
      .onConflict(conflict =>
        conflict
          .column('quarantine_id')
          .doUpdateSet({ resolved_at: null, seen_at: eb => eb.ref('excluded.seen_at') }),
      )
      .execute()
}

export interface QuarantinedRecords {
  readonly resource: string
  readonly rows: readonly QuarantineRow[]
}

/** Adds records that could not be loaded and resolves those loaded now. Runs inside the merge of a batch. */
export async function keepQuarantine(
  engine: Engine,
  { resource, rows }: QuarantinedRecords,
  open: OpenCases,
): Promise<void> {
  if (open.quarantined > 0) {
    await engine.run(
      `update ops.quarantine as q set resolved_at = d.loaded_at from delta d
       where q.resource = $1 and q.resolved_at is null and q.record_id = d.record_key and d.state <> 'missing'`,
      [resource],
    )
  }
  await addRows(engine, rows)
}

/** Resolves records last seen before a time (ISO 8601): the complete list has been read since, without them. */
export async function closeQuarantine(
  engine: Engine,
  resource: string,
  { seenBefore, at }: { readonly seenBefore: string; readonly at: string },
): Promise<void> {
  await ledger(engine)
    .updateTable('ops.quarantine')
    .set({ resolved_at: at })
    .where('resource', '=', resource)
    .where('resolved_at', 'is', null)
    .where('seen_at', '<', seenBefore)
    .execute()
}

/** Ids of the records in quarantine. */
export async function quarantinedIds(engine: Engine, resource: string): Promise<ReadonlySet<string>> {
  const rows = await ledger(engine)
    .selectFrom('ops.quarantine')
    .select('record_id')
    .distinct()
    .where('resource', '=', resource)
    .where('resolved_at', 'is', null)
    .execute()
  return new Set(rows.flatMap(({ record_id: id }) => id ?? []))
}

/** Records that the service no longer has; if seen again, they return to quarantine. */
export interface VanishedRecords {
  readonly resource: string
  readonly ids: readonly string[]
  /** Set when only a key that has shown the record may resolve it. */
  readonly scopeId?: string
  /** ISO 8601. */
  readonly at: string
}

export async function closeVanished(
  engine: Engine,
  { resource, ids, scopeId, at }: VanishedRecords,
): Promise<void> {
  for (const some of chunks(ids)) {
    const cases = ledger(engine)
      .updateTable('ops.quarantine')
      .set({ resolved_at: at })
      .where('resource', '=', resource)
      .where('record_id', 'in', some)
      .where('resolved_at', 'is', null)
    const runs = ledger(engine).selectFrom('ops.key_scope').select('run_id')
    await (scopeId === undefined
      ? cases
      : cases.where('run_id', 'in', runs.where('scope_id', '=', scopeId))
    ).execute()
  }
}
