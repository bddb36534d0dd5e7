/** What came of asking for records by their ids, written beside the records themselves. */
import type { Table } from '../../resources/table.ts'
import type { Engine } from '../engine.ts'
import { isMember } from '../physical.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { daysBetween } from './days-between.ts'
import { remember } from './discovered.ts'

/** An answer that brought a record; times are ISO 8601. */
export interface Fetch {
  readonly recordId: string
  /** Before the request was sent: what is signalled from then on may not be in the answer. */
  readonly askedAt: string
  readonly fetchedAt: string
}

/** An answer that did not. */
export interface Miss {
  readonly recordId: string
  readonly askedAt: string
  readonly state: 'missing' | 'refused'
  readonly reason: string
  readonly checkedAt: string
  /** Null: only another scope of the key asks again. */
  readonly retryAfter: string | null
}

const instant = (iso: string): string => `cast(${quoteText(iso)} as timestamptz)`

/** Nothing is longer ago than its time says, whatever the clocks of service and client. */
const atLeastNone = (expression: string): string => `greatest(0.0, ${expression})`

/** How far the first fetch of a record looks back: what it did long ago tells little of what it does now. */
const lookBack = `interval '30 days'`

/**
 * What a fetch adds to the estimate of how often its record changes. The days since the last fetch, if nothing changed;
 * else the days since the change, as nothing changed after it. The first fetch looks back 30 days, or to the creation.
 */
function evidence(table: Table): { readonly changes: string; readonly exposure: string } {
  const created = table.columns.created_at ? 's.created_at' : 'cast(null as timestamptz)'
  const since = `case when d.fetches > 0 then d.last_fetched_at
    when ${created} is not null then greatest(${created}, f.fetched_at - ${lookBack}) end`
  const isChanged = `case when d.fetches > 0 then s.loaded_at > d.last_fetched_at else s.source_updated_at > ${since} end`
  const sinceChange = `case when s.source_updated_at > ${since} then s.source_updated_at else ${since} end`
  return {
    changes: `case when ${isChanged} then 1 else 0 end`,
    exposure: `coalesce(${atLeastNone(`case when ${isChanged} then ${daysBetween('f.fetched_at', sinceChange)} else ${daysBetween('f.fetched_at', since)} end`)}, 0.0)`,
  }
}

const lost = 'it could not be loaded (select * from ops.quarantine)'

/** Runs in the transaction that loads the records, after them. */
export async function recordFetches(
  engine: Engine,
  { resource, table }: { readonly resource: string; readonly table: Table },
  fetches: readonly Fetch[],
): Promise<void> {
  if (fetches.length === 0) return
  const rows = fetches.map(
    ({ recordId, askedAt, fetchedAt }) =>
      `(${quoteText(recordId)}, ${instant(askedAt)}, ${instant(fetchedAt)})`,
  )
  const { changes, exposure } = evidence(table)
  const whole = isMember(table) ? ' and not s.is_stub' : ''
  const key = quoteName(table.key)
  await engine.run(
    `update ops.discovered as o set
       state = q.state, reason = q.reason, key_scope = null, misses = 0,
       retry_after = case when q.state = 'refused' then q.fetched_at + interval '1 day' end,
       state_since = case when o.state = q.state then o.state_since else q.fetched_at end,
       checked_at = q.fetched_at, last_fetched_at = q.fetched_at, fetches = o.fetches + 1,
       changes = o.changes + q.changes, exposure_days = o.exposure_days + q.exposure,
       signals = case when o.signalled_at >= q.asked_at then o.signals else 0 end
     from (
       select f.record_id, f.asked_at, f.fetched_at, ${changes} as changes, ${exposure} as exposure,
         case when s.${key} is null then 'refused' else 'held' end as state,
         case when s.${key} is null then ${quoteText(lost)} end as reason
       from (values ${rows.join(', ')}) as f(record_id, asked_at, fetched_at)
       join ops.discovered d on d.resource = ${quoteText(resource)} and d.record_id = f.record_id
       left join star.${quoteName(table.name)} s on s.${key} = f.record_id${whole}) as q
     where o.resource = ${quoteText(resource)} and o.record_id = q.record_id`,
  )
}

export async function recordMisses(
  engine: Engine,
  resource: string,
  { misses, keyScope }: { readonly misses: readonly Miss[]; readonly keyScope: string },
): Promise<void> {
  if (misses.length === 0) return
  const rows = misses.map(({ recordId, state, reason, askedAt, checkedAt, retryAfter }) => {
    const texts = [recordId, state, reason].map(quoteText)
    const retry = retryAfter === null ? 'cast(null as timestamptz)' : instant(retryAfter)
    return `(${[...texts, instant(askedAt), instant(checkedAt), retry].join(', ')})`
  })
  await engine.run(
    `update ops.discovered as o set
       state = q.state, reason = q.reason, key_scope = $2, checked_at = q.checked_at, misses = o.misses + 1,
       state_since = case when o.state = q.state then o.state_since else q.checked_at end,
       retry_after = case when o.signalled_at >= q.asked_at then q.checked_at else q.retry_after end,
       signals = case when o.signalled_at >= q.asked_at then o.signals else 0 end
     from (values ${rows.join(', ')}) as q(record_id, state, reason, asked_at, checked_at, retry_after)
     where o.resource = $1 and o.record_id = q.record_id`,
    [resource, keyScope],
  )
}

/** Nothing was learnt of these: asked for again from then on. A held record stays due as it was. */
export async function postpone(
  engine: Engine,
  resource: string,
  { ids, until }: { readonly ids: readonly string[]; readonly until: string },
): Promise<void> {
  if (ids.length === 0) return
  await engine.ledger
    .updateTable('ops.discovered')
    .set({ retry_after: until })
    .where('resource', '=', resource)
    .where('record_id', 'in', ids)
    .where('state', '<>', 'held')
    .execute()
}

/** Answers that brought another record than the one asked for: short ids name the same records as long ones. */
export async function recordOtherNames(
  engine: Engine,
  resource: string,
  names: readonly { readonly asked: string; readonly recordId: string; readonly at: string }[],
): Promise<void> {
  await remember(
    engine,
    names.map(({ recordId, at }) => ({ resource, recordId, source: 'its short id', at })),
  )
  for (const { asked, recordId, at } of names) {
    await engine.ledger
      .updateTable('ops.discovered')
      .set({
        state: 'refused',
        state_since: at,
        reason: `it is another name of ${recordId}`,
        checked_at: at,
        retry_after: null,
        key_scope: null,
        signals: 0,
      })
      .where('resource', '=', resource)
      .where('record_id', '=', asked)
      .execute()
  }
}
