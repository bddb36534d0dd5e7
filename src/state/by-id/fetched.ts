/** Records the results of fetches by id, in the transaction that loads the records. */

import type { Table } from '../../contract/fields/table.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMember } from '../../warehouse/schema/physical.ts'
import { elapsedDays, quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import { remember } from './discovered.ts'
import type { RefreshExpectation } from './due.ts'

/** A fetch that returned the record; times are ISO 8601. */
export interface Fetch {
  readonly recordId: string
  /** Before the request was sent: the answer may miss changes signalled after that. */
  readonly askedAt: string
  readonly fetchedAt: string
  readonly runId: string
  /** Set only for a stored record chosen by its estimate. */
  readonly expected?: RefreshExpectation
}

/** A fetch that returned no record. */
export interface FailedFetch {
  readonly recordId: string
  readonly askedAt: string
  readonly state: 'missing' | 'refused'
  readonly reason: string
  readonly checkedAt: string
  /** Null: retried only when the key has another scope. */
  readonly retryAfter: string | null
}

export const instant = (iso: string): string => `cast(${quoteText(iso)} as timestamptz)`

/** Writes a number as a double, which an engine could otherwise read as a decimal. */
export const double = (value: number): string => `cast(${value} as double precision)`

/** The clocks of service and client may differ, but a duration is never negative. */
const atLeastZero = (expression: string): string => `greatest(0.0, ${expression})`

/** How far the first fetch of a record looks back; older changes say little about it today. */
const lookBack = `interval '30 days'`

/** Days after which the result of a fetch counts half; old fetches say little about the record today. */
const halfLife = 180

/** The share of the counts of row `d` that still counts at the fetch `f`. */
const decay = `power(0.5, case when d.fetches > 0 then ${atLeastZero(elapsedDays('f.fetched_at', 'd.last_fetched_at'))} / ${halfLife}.0 else 0.0 end)`

export interface ChangeFound {
  /** SQL over row `d` of ops.discovered before the fetch `f`, and row `s` of star after it: 1 for a change. */
  readonly isChanged: string
  /** Days in which a change could be seen. */
  readonly exposure: string
}

/**
 * Computes what a fetch adds to the estimate of how often its record changes. Without a change it adds the days since the
 * last fetch; with one, the days since the change, as nothing changed after it. The first fetch looks back 30 days, or to
 * the creation. After an event it adds all days since the last fetch: the fetch follows soon after the change, so the days
 * since the change would be too few.
 */
export function changeFound(table: Table): ChangeFound {
  const created = table.columns.created_at ? 's.created_at' : 'cast(null as timestamptz)'
  const since = `case when d.fetches > 0 then d.last_fetched_at
    when ${created} is not null then greatest(${created}, f.fetched_at - ${lookBack}) end`
  const isChanged = `case when d.fetches > 0 then s.loaded_at > d.last_fetched_at
    and s.valid_from >= coalesce(s.source_updated_at, s.loaded_at) else s.source_updated_at > ${since} end`
  const sinceChange = `case when s.source_updated_at > ${since} then s.source_updated_at else ${since} end`
  const isQuiet = `${isChanged} and (d.fetches = 0 or d.signals = 0)`
  return {
    isChanged: `case when ${isChanged} then 1 else 0 end`,
    exposure: `coalesce(${atLeastZero(`case when ${isQuiet} then ${elapsedDays('f.fetched_at', sinceChange)} else ${elapsedDays('f.fetched_at', since)} end`)}, 0.0)`,
  }
}

export const notLoaded = 'it could not be loaded (select * from ops.quarantine)'

/** Runs in the transaction that loads the records, after loading them. */
export async function recordFetches(
  engine: Engine,
  { resource, table }: { readonly resource: string; readonly table: Table },
  fetches: readonly Fetch[],
): Promise<void> {
  if (fetches.length === 0) return
  const rows = fetches.map(
    ({ recordId, askedAt, fetchedAt, runId }) =>
      `(${quoteText(recordId)}, ${instant(askedAt)}, ${instant(fetchedAt)}, ${quoteText(runId)})`,
  )
  const { isChanged, exposure } = changeFound(table)
  const ownRowsOnly = isMember(table) ? ' and not s.is_inferred' : ''
  const key = quoteName(table.key)
  await engine.run(
    `update ops.discovered as o set
       state = q.state, reason = q.reason, key_scope = null, failed_fetches = 0,
       retry_after = case when q.state = 'refused' then q.fetched_at + interval '1 day' end,
       state_since = case when o.state = q.state then o.state_since else q.fetched_at end,
       checked_at = q.fetched_at, last_fetched_at = q.fetched_at, fetched_by = q.run_id, fetches = o.fetches + 1,
       changes = o.changes * q.decay + q.changes, exposure_days = o.exposure_days * q.decay + q.exposure,
       signals = case when o.signalled_at >= q.asked_at then o.signals else 0 end
     from (
       select f.record_id, f.asked_at, f.fetched_at, f.run_id, ${isChanged} as changes, ${exposure} as exposure,
         ${decay} as decay,
         case when s.${key} is null then 'refused' else 'stored' end as state,
         case when s.${key} is null then ${quoteText(notLoaded)} end as reason
       from (values ${rows.join(', ')}) as f(record_id, asked_at, fetched_at, run_id)
       join ops.discovered d on d.resource = ${quoteText(resource)} and d.record_id = f.record_id
       left join star.${quoteName(table.name)} s on s.${key} = f.record_id${ownRowsOnly}) as q
     where o.resource = ${quoteText(resource)} and o.record_id = q.record_id`,
  )
}

export async function recordFailedFetches(
  engine: Engine,
  resource: string,
  { failed, keyScope }: { readonly failed: readonly FailedFetch[]; readonly keyScope: string },
): Promise<void> {
  if (failed.length === 0) return
  const rows = failed.map(({ recordId, state, reason, askedAt, checkedAt, retryAfter }) => {
    const texts = [recordId, state, reason].map(quoteText)
    const retry = retryAfter === null ? 'cast(null as timestamptz)' : instant(retryAfter)
    return `(${[...texts, instant(askedAt), instant(checkedAt), retry].join(', ')})`
  })
  await engine.run(
    `update ops.discovered as o set
       state = q.state, reason = q.reason, key_scope = $2, checked_at = q.checked_at, failed_fetches = o.failed_fetches + 1,
       state_since = case when o.state = q.state then o.state_since else q.checked_at end,
       retry_after = case when o.signalled_at >= q.asked_at then q.checked_at else q.retry_after end,
       signals = case when o.signalled_at >= q.asked_at then o.signals else 0 end
     from (values ${rows.join(', ')}) as q(record_id, state, reason, asked_at, checked_at, retry_after)
     where o.resource = $1 and o.record_id = q.record_id`,
    [resource, keyScope],
  )
}

/** Server errors say nothing about the record; keep it. A stored record counts as failed only after a change signal. */
export async function retryLater(
  engine: Engine,
  resource: string,
  { ids, until }: { readonly ids: readonly string[]; readonly until: string },
): Promise<void> {
  if (ids.length === 0) return
  await ledger(engine)
    .updateTable('ops.discovered')
    .set({ retry_after: until })
    .where('resource', '=', resource)
    .where('record_id', 'in', ids)
    .where(({ eb, or }) => or([eb('state', '<>', 'stored'), eb('signals', '>', 0)]))
    .execute()
}

/** Records ids that the service answered with another id: a record has a short id and a long one. */
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
    await ledger(engine)
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
