/** Stores known ids, from star, events or a file, and the runs whose rows have been searched for ids. */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Edge } from '../../contract/derived/discovery.ts'
import { isRecordId, isSafeId, safeId } from '../../contract/fields/record-id.ts'
import type { KeyKind, Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMember } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { chunks, ledger } from '../ledger.ts'
import type { DiscoveredRow } from './tables.ts'

/** Finds the rows of star that came from some pages: by the runs that fetched them, and the time of the earliest page. */
export class FetchedPages {
  readonly #runs = new Set<string>()
  /** ISO 8601. */
  #since: string | undefined

  add({ runId, fetchedAt }: { readonly runId: string; readonly fetchedAt: string }): void {
    this.#runs.add(runId)
    if (this.#since === undefined || Date.parse(fetchedAt) < Date.parse(this.#since)) this.#since = fetchedAt
  }

  /** SQL condition on a row of star. `loaded_at` is the time of its page; it lets the engines skip other rows. */
  get condition(): string {
    const runs = [...this.#runs].map(quoteText)
    if (runs.length === 0 || this.#since === undefined) return 'false'
    return `run_id in (${runs.join(', ')}) and loaded_at >= cast(${quoteText(this.#since)} as timestamptz)`
  }
}

/** An id, and where it was found. */
export interface DiscoveredId {
  readonly resource: string
  readonly recordId: string
  /** Such as `event trade_created`, or the name of a file. */
  readonly source: string
  /** ISO 8601. */
  readonly at: string
}

const noId = 'it cannot be an id: an id has letters, digits, _ and -, at most 64'

/** The text may be anything, so store its hash; `source` says where to find the text. */
const hashOf = (text: string): string => `md5 ${createHash('md5').update(text).digest('hex')}`

function rowOf({ resource, recordId, source, at }: DiscoveredId): DiscoveredRow {
  const isSafe = isRecordId(recordId)
  return {
    resource,
    record_id: isSafeId(recordId) ? recordId : hashOf(recordId),
    source,
    first_seen_at: at,
    state: isSafe ? 'never fetched' : 'refused',
    state_since: at,
    reason: isSafe ? null : noId,
    key_scope: null,
    checked_at: null,
    last_fetched_at: null,
    fetched_by: null,
    retry_after: null,
    fetches: 0,
    failed_fetches: 0,
    changes: 0,
    exposure_days: 0,
    signals: 0,
    signalled_at: null,
  }
}

const idKeyOf = ({ resource, recordId }: DiscoveredId): string => `${resource} ${recordId}`

/** Adds the ids that are new; returns their number. */
export async function remember(engine: Engine, seen: readonly DiscoveredId[]): Promise<number> {
  if (seen.length === 0) return 0
  const rows = [...new Map(seen.map(one => [idKeyOf(one), one])).values()].map(rowOf)
  const before = await countDiscovered(engine)
  for (const chunk of chunks(rows)) {
    await ledger(engine)
      .insertInto('ops.discovered')
      .values([...chunk])
      .onConflict(conflict => conflict.columns(['resource', 'record_id']).doNothing())
      .execute()
  }
  return (await countDiscovered(engine)) - before
}

async function countDiscovered(engine: Engine): Promise<number> {
  const [row] = await engine.rows<{ n: number }>('select count(*) as n from ops.discovered')
  return Number(row?.n ?? 0)
}

/** Several events of one record become one row that counts them. */
function coalesced(seen: readonly DiscoveredId[]): DiscoveredRow[] {
  const rows = new Map<string, DiscoveredRow>()
  for (const one of seen) {
    const row = rows.get(idKeyOf(one)) ?? rowOf(one)
    const isLater = row.signalled_at === null || Date.parse(one.at) > Date.parse(row.signalled_at)
    const at = isLater ? one.at : row.signalled_at
    rows.set(idKeyOf(one), { ...row, signals: Number(row.signals) + 1, signalled_at: at })
  }
  return [...rows.values()]
}

/**
 * Records events about these records: adds new ids, and makes known ones due for one more fetch, however many events came.
 * Missing and refused ids become due too, unless the text cannot be an id.
 */
export async function signal(engine: Engine, seen: readonly DiscoveredId[]): Promise<void> {
  for (const chunk of chunks(coalesced(seen))) {
    await ledger(engine)
      .insertInto('ops.discovered')
      .values([...chunk])
      .onConflict(conflict =>
        conflict.columns(['resource', 'record_id']).doUpdateSet({
          signals: sql`discovered.signals + excluded.signals`,
          signalled_at: sql`greatest(discovered.signalled_at, excluded.signalled_at)`,
          retry_after: sql`case when discovered.retry_after is not null then excluded.signalled_at end`,
        }),
      )
      .execute()
  }
}

/** Selects the ids of one column, with a hash for each text that cannot be an id. */
function idsOf({ resource, table, column, where, brings }: Edge, run: string): string {
  const name = quoteName(column)
  // Attributes of an inferred member come from the record that refers to it.
  const ownRowsOnly = table.startsWith('dim_') ? 'not is_inferred' : ''
  const conditions = [
    `${name} is not null`,
    `${name} not in ('', '-1')`,
    'not is_deleted',
    ownRowsOnly,
    run,
    where,
  ]
  // Each id once before the pattern: PostgreSQL takes 1.6 s for the pattern on 100,000 rows.
  return `select ${quoteText(resource)} as resource, case when u.id ~ '${safeId}' then u.id else 'md5 ' || md5(u.id) end as id,
      u.id ~ '${safeId}' as is_safe, ${quoteText(`star.${table}.${column}`)} as source, u.stored_at
    from (select ${name} as id, ${brings ? 'max(loaded_at)' : 'cast(null as timestamptz)'} as stored_at
      from star.${quoteName(table)} where ${conditions.filter(Boolean).join(' and ')} group by ${name}) u`
}

/** Adds records that only star knows, for example after a replay into an empty warehouse; returns their number. */
export async function adopt(engine: Engine, { name, table }: Resource): Promise<number> {
  const key = quoteName(table.key)
  const ownRowsOnly = isMember(table) ? `and not t.is_inferred and t.${key} <> '-1'` : ''
  return engine.run(
    `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, checked_at,
       last_fetched_at, fetches, failed_fetches, changes, exposure_days, signals)
     select $1, t.${key}, ${quoteText(`star.${table.name}`)}, t.first_loaded_at, 'stored', t.loaded_at, t.loaded_at,
       t.loaded_at, 1, 0, 0, 0, 0
     from star.${quoteName(table.name)} t
     where not t.is_deleted ${ownRowsOnly} and t.${key} ~ '${safeId}'
       and not exists (select 1 from ops.discovered d where d.resource = $1 and d.record_id = t.${key})`,
    [name],
  )
}

interface ReferenceSearch {
  /** Columns to search. */
  readonly edges: readonly Edge[]
  /** ISO 8601. */
  readonly at: string
  /** Only rows of these pages. */
  readonly fetched?: FetchedPages
}

/** Adds ids from all columns of star that hold them, if unknown or known from events only; returns their number. */
export async function discover(engine: Engine, { edges, at, fetched }: ReferenceSearch): Promise<number> {
  if (edges.length === 0) return 0
  const ids = edges.map(edge => idsOf(edge, fetched?.condition ?? '')).join('\n    union all ')
  return engine.run(
    `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason,
       checked_at, last_fetched_at, fetches, failed_fetches, changes, exposure_days, signals)
     select q.resource, q.id, q.source, cast($1 as timestamptz),
       case when not q.is_safe then 'refused' when q.stored_at is not null then 'stored' else 'never fetched' end,
       cast($1 as timestamptz), case when not q.is_safe then ${quoteText(noId)} end,
       q.stored_at, q.stored_at, 0, 0, 0, 0, 0
     from (select i.resource, i.id, bool_and(i.is_safe) as is_safe, min(i.source) as source, max(i.stored_at) as stored_at
           from (${ids}) i group by i.resource, i.id) q
     where not exists (select 1 from ops.discovered d
       where d.resource = q.resource and d.record_id = q.id and d.source not like 'event %')
     on conflict (resource, record_id) do update set source = excluded.source`,
    [at],
  )
}

/** Which rows of star may name ids that are not recorded yet. */
type UnsearchedRows = 'none' | 'of this run' | 'any'

/**
 * Another version of the program, or another kind of key, may search other columns for ids; a replay may write any rows.
 * All rows are then searched again.
 */
export async function unsearchedRows(
  engine: Engine,
  { runId, kind }: { readonly runId: string; readonly kind: KeyKind },
): Promise<UnsearchedRows> {
  const wrote = `r.discovered_at is null and (r.command = 'replay'
    or coalesce(r.rows_inserted, 0) + coalesce(r.rows_changed, 0) > 0)`
  const [row] = await engine.rows<{ alike: number; own: number; others: number }>(
    `select count(case when r.discovered_at is not null and k.kind = $2
         and r.program_version = (select own.program_version from ops.run as own where own.run_id = $1) then 1 end) as alike,
       count(case when ${wrote} and r.run_id = $1 then 1 end) as own,
       count(case when ${wrote} and r.run_id <> $1 then 1 end) as others
     from ops.run as r left join ops.key_scope as k on k.run_id = r.run_id`,
    [runId, kind],
  )
  if (Number(row?.alike ?? 0) === 0 || Number(row?.others ?? 1) > 0) return 'any'
  return Number(row?.own ?? 1) > 0 ? 'of this run' : 'none'
}

/** Marks this run, or all runs so far, as searched for ids. Runs in the transaction that adds the ids. */
export async function recordDiscovery(
  engine: Engine,
  { runId, at, isOfAll }: { readonly runId: string; readonly at: string; readonly isOfAll: boolean },
): Promise<void> {
  const others = isOfAll ? `or (discovered_at is null and state <> 'running')` : ''
  await engine.run(`update ops.run set discovered_at = cast($2 as timestamptz) where run_id = $1 ${others}`, [
    runId,
    at,
  ])
}
