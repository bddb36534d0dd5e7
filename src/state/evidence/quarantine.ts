/** Records that could not be loaded, until a later version of them can be. */
import type { Engine, TypedColumn } from '../../warehouse/engine.ts'
import { quoteNames } from '../../warehouse/sql-text.ts'
import { chunks } from '../chunks.ts'
import { ledger } from '../ledger.ts'
import type { OpenCases } from './evidence.ts'
import type { QuarantineRow } from './tables.ts'

/** Temporary table by which the records of a batch whose leaves were lost come to the warehouse. */
export const quarantineTable = 'stage_quarantine'

export const quarantineColumns: readonly TypedColumn[] = [
  { name: 'quarantine_id', sql: 'text' },
  { name: 'resource', sql: 'text' },
  { name: 'record_id', sql: 'text' },
  { name: 'path', sql: 'text' },
  { name: 'text', sql: 'text' },
  { name: 'reason', sql: 'text' },
  { name: 'payload', sql: 'text' },
  { name: 'page', sql: 'text' },
  { name: 'run_id', sql: 'text' },
  { name: 'seen_at', sql: 'timestamptz' },
]

async function addFromTable(engine: Engine): Promise<void> {
  const names = quoteNames(quarantineColumns.map(({ name }) => name))
  await engine.run(
    `insert into ops.quarantine (${names}) select ${names} from ${quarantineTable} where true
     on conflict (quarantine_id) do update set resolved_at = null, seen_at = excluded.seen_at`,
  )
}

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

export interface Quarantined {
  readonly resource: string
  /** Whether the temporary table has been received. */
  readonly hasTable: boolean
  readonly rows: readonly QuarantineRow[]
}

/** Inside the merge of a batch: adds the records that could not be loaded, and closes the cases of those that now could. */
export async function keepQuarantine(
  engine: Engine,
  { resource, hasTable, rows }: Quarantined,
  open: OpenCases,
): Promise<void> {
  if (open.quarantined > 0) {
    await engine.run(
      `update ops.quarantine as q set resolved_at = d.loaded_at from delta d
       where q.resource = $1 and q.resolved_at is null and q.record_id = d.record_key and d.state <> 'missing'`,
      [resource],
    )
  }
  if (hasTable) await addFromTable(engine)
  await addRows(engine, rows)
}

/** Closes cases last seen before a time (ISO 8601): the whole list has been read since, without them. */
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

/** Records of a resource that could not be loaded, until a version of them can be. */
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

/** Records that the service no longer has: seen again, they come back to quarantine. */
export interface Vanished {
  readonly resource: string
  readonly ids: readonly string[]
  /** Set where only a key that has shown the record may say so. */
  readonly scopeId?: string
  /** ISO 8601. */
  readonly at: string
}

export async function closeVanished(engine: Engine, { resource, ids, scopeId, at }: Vanished): Promise<void> {
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
