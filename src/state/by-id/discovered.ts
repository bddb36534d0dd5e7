/** Known ids: found in star, received in events, or given in a file. */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Edge } from '../../contract/derived/discovery.ts'
import { isRecordId, isSafeId, safeId } from '../../contract/fields/record-id.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMember } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { chunks } from '../chunks.ts'
import { ledger } from '../ledger.ts'
import type { FetchedPages } from './fetched-pages.ts'
import type { DiscoveredRow } from './tables.ts'

/** An id, and where it was found. */
export interface Seen {
  readonly resource: string
  readonly recordId: string
  /** Such as `event trade_created`, or the name of a file. */
  readonly source: string
  /** ISO 8601. */
  readonly at: string
}

const noId = 'it cannot be an id: an id has letters, digits, _ and -, at most 64'

/** The text may be anything, so its hash stands for it; `source` tells where to find the text. */
const hashOf = (text: string): string => `md5 ${createHash('md5').update(text).digest('hex')}`

function rowOf({ resource, recordId, source, at }: Seen): DiscoveredRow {
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

const placeOf = ({ resource, recordId }: Seen): string => `${resource} ${recordId}`

/** Adds ids that are new; returns how many were. */
export async function remember(engine: Engine, seen: readonly Seen[]): Promise<number> {
  if (seen.length === 0) return 0
  const rows = [...new Map(seen.map(one => [placeOf(one), one])).values()].map(rowOf)
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
function coalesced(seen: readonly Seen[]): DiscoveredRow[] {
  const rows = new Map<string, DiscoveredRow>()
  for (const one of seen) {
    const row = rows.get(placeOf(one)) ?? rowOf(one)
    const isLater = row.signalled_at === null || Date.parse(one.at) > Date.parse(row.signalled_at)
    const at = isLater ? one.at : row.signalled_at
    rows.set(placeOf(one), { ...row, signals: Number(row.signals) + 1, signalled_at: at })
  }
  return [...rows.values()]
}

/**
 * Events about these records: new ids are added, and known ones are fetched again soon, once for any number of events. So
 * are missing and refused ones, unless the text cannot be an id.
 */
export async function signal(engine: Engine, seen: readonly Seen[]): Promise<void> {
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

/** Ids of one column; a text that cannot be an id is replaced by its hash. */
function idsOf({ resource, table, column, where, brings }: Edge, run: string): string {
  const name = quoteName(column)
  // Attributes of an inferred member come from the record that refers to it.
  const whole = table.startsWith('dim_') ? 'not is_inferred' : ''
  const conditions = [`${name} is not null`, `${name} not in ('', '-1')`, 'not is_deleted', whole, run, where]
  // Each id once before the pattern: PostgreSQL takes 1.6 s for the pattern on 100,000 rows.
  return `select ${quoteText(resource)} as resource, case when u.id ~ '${safeId}' then u.id else 'md5 ' || md5(u.id) end as id,
      u.id ~ '${safeId}' as is_safe, ${quoteText(`star.${table}.${column}`)} as source, u.held_at
    from (select ${name} as id, ${brings ? 'max(loaded_at)' : 'cast(null as timestamptz)'} as held_at
      from star.${quoteName(table)} where ${conditions.filter(Boolean).join(' and ')} group by ${name}) u`
}

/** Adds records that are in star only, as after a replay into an empty warehouse; returns how many. */
export async function adopt(engine: Engine, { name, table }: Resource): Promise<number> {
  const key = quoteName(table.key)
  const whole = isMember(table) ? `and not t.is_inferred and t.${key} <> '-1'` : ''
  return engine.run(
    `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, checked_at,
       last_fetched_at, fetches, failed_fetches, changes, exposure_days, signals)
     select $1, t.${key}, ${quoteText(`star.${table.name}`)}, t.first_loaded_at, 'stored', t.loaded_at, t.loaded_at,
       t.loaded_at, 1, 0, 0, 0, 0
     from star.${quoteName(table.name)} t
     where not t.is_deleted ${whole} and t.${key} ~ '${safeId}'
       and not exists (select 1 from ops.discovered d where d.resource = $1 and d.record_id = t.${key})`,
    [name],
  )
}

export interface Search {
  /** Columns to search. */
  readonly edges: readonly Edge[]
  /** ISO 8601. */
  readonly at: string
  /** Only rows of these pages. */
  readonly fetched?: FetchedPages
}

/** Adds the ids in star that are not known yet, or from events only, from all columns that hold them; returns how many. */
export async function discover(engine: Engine, { edges, at, fetched }: Search): Promise<number> {
  if (edges.length === 0) return 0
  const ids = edges.map(edge => idsOf(edge, fetched?.condition ?? '')).join('\n    union all ')
  return engine.run(
    `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason,
       checked_at, last_fetched_at, fetches, failed_fetches, changes, exposure_days, signals)
     select q.resource, q.id, q.source, cast($1 as timestamptz),
       case when not q.is_safe then 'refused' when q.held_at is not null then 'stored' else 'never fetched' end,
       cast($1 as timestamptz), case when not q.is_safe then ${quoteText(noId)} end,
       q.held_at, q.held_at, 0, 0, 0, 0, 0
     from (select i.resource, i.id, bool_and(i.is_safe) as is_safe, min(i.source) as source, max(i.held_at) as held_at
           from (${ids}) i group by i.resource, i.id) q
     where not exists (select 1 from ops.discovered d
       where d.resource = q.resource and d.record_id = q.id and d.source not like 'event %')
     on conflict (resource, record_id) do update set source = excluded.source`,
    [at],
  )
}
