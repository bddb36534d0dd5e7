/** Compares records of star with the ids that a sweep saw, as SQL for both engines. */
import type { Resource } from '../../contract/fields/resource.ts'
import { foundMissingAt, liveRecords, recordKey, recordRows } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

export interface SweptList {
  readonly resource: Resource
  readonly sweepId: string
  readonly scopeId: string
  /** ISO 8601: a record fetched later is not judged, as it may have been created after its page was read. */
  readonly startedAt: string
  /** ISO 8601: start of the last complete sweep with this scope; null before the first. */
  readonly baseline: string | null
}

const instant = (time: string): string => `cast(${quoteText(time)} as timestamptz)`

/**
 * True for a row `t` fetched by a run of a scope, given as SQL. A record fetched by id without a change keeps the
 * run that brought its version: ops.discovered has the last run.
 */
export const shownTo = (resource: Resource, scope: string): string =>
  `(exists (select 1 from ops.key_scope k where k.run_id = t.run_id and k.scope_id = ${scope})
    or exists (select 1 from ops.discovered d join ops.key_scope k on k.run_id = d.fetched_by
      where d.resource = ${quoteText(resource.name)} and d.record_id = ${recordKey(resource)} and k.scope_id = ${scope}))`

/** True for a row `t` fetched by a run of this scope. */
export const fetchedWith = (resource: Resource, scopeId: string): string =>
  shownTo(resource, quoteText(scopeId))

/** True for a row `t` that this scope has not shown since its first sweep. */
export const outOfSight = (resource: Resource, scopeId: string): string =>
  `exists (select 1 from ops.out_of_sight o where o.resource = ${quoteText(resource.name)}
    and o.record_id = ${recordKey(resource)} and o.scope_id = ${quoteText(scopeId)})`

/** True for an id `s` that a scan of this sweep saw. */
const isOfSweep = (sweepId: string): string =>
  `s.scan_id in (select scan_id from ops.scan where sweep_id = ${quoteText(sweepId)})`

const isSeen = ({ resource, sweepId }: SweptList): string =>
  `exists (select 1 from ops.scan_id s where ${isOfSweep(sweepId)} and s.record_id = ${recordKey(resource)})`

/** Rows that were stored before the sweep began. */
const storedBefore = ({ resource, startedAt }: SweptList): string =>
  `${liveRecords(resource)} and t.loaded_at < ${instant(startedAt)}`

/** Rows that this scope has shown before, so that their absence now is evidence. */
function judged(list: SweptList): string {
  const { resource, scopeId, baseline } = list
  if (baseline === null) return fetchedWith(resource, scopeId)
  return `(${fetchedWith(resource, scopeId)} or (t.loaded_at < ${instant(baseline)} and not ${outOfSight(resource, scopeId)}))`
}

export const judgedCount = (list: SweptList): string =>
  `select count(*) as n from ${storedBefore(list)} and ${judged(list)}`

export const missingIds = (list: SweptList): string =>
  `select ${recordKey(list.resource)} as id from ${storedBefore(list)} and ${judged(list)} and not ${isSeen(list)} order by 1`

/** Counts missing records whose deletion an event announced. */
export const countAnnounced = (list: SweptList): string =>
  `select count(*) as n from (${missingIds(list)}) as m where exists (
     select 1 from ops.evidence e where e.resource = ${quoteText(list.resource.name)} and e.record_id = m.id
       and e.kind = 'event' and e.void_at is null)`

/** Rows of another scope that this one does not show and that are not recorded as out of its sight yet. */
const others = (list: SweptList): string => {
  const { resource, scopeId } = list
  return `${storedBefore(list)} and not ${judged(list)} and not ${isSeen(list)} and not ${outOfSight(resource, scopeId)}`
}

export const countOutOfSight = (list: SweptList): string => `select count(*) as n from ${others(list)}`

export const rememberOutOfSight = (list: SweptList): string => {
  const { resource, scopeId, startedAt } = list
  return `insert into ops.out_of_sight (resource, record_id, scope_id, since)
    select ${quoteText(resource.name)}, ${recordKey(resource)}, ${quoteText(scopeId)}, ${instant(startedAt)} from ${others(list)}`
}

export const forgetOutOfSight = ({ resource, scopeId, sweepId }: SweptList): string =>
  `delete from ops.out_of_sight where resource = ${quoteText(resource.name)} and scope_id = ${quoteText(scopeId)}
   and record_id in (select s.record_id from ops.scan_id s where ${isOfSweep(sweepId)})`

/** Tombstoned records that the sweep saw, unless they were found missing after it began. */
export const revivedIds = (list: SweptList): string =>
  `select ${recordKey(list.resource)} as id from ${recordRows(list.resource)}
   and t.is_deleted and ${foundMissingAt} < ${instant(list.startedAt)} and ${isSeen(list)} order by 1`

/** Voids evidence from before the sweep against records that it saw. */
export const voidSeen = ({ resource, sweepId, startedAt }: SweptList): string =>
  `update ops.evidence set void_at = ${instant(startedAt)}, void_reason = ${quoteText(`seen by sweep ${sweepId}`)}
   where resource = ${quoteText(resource.name)} and void_at is null and seen_at < ${instant(startedAt)}
   and record_id in (select s.record_id from ops.scan_id s where ${isOfSweep(sweepId)})`

/** Resolves quarantined records that this scope has shown and that the sweep did not see. */
export const resolveMissing = ({ resource, sweepId, scopeId, startedAt }: SweptList): string =>
  `update ops.quarantine set resolved_at = ${instant(startedAt)}
   where resource = ${quoteText(resource.name)} and resolved_at is null and seen_at < ${instant(startedAt)}
   and run_id in (select k.run_id from ops.key_scope k where k.scope_id = ${quoteText(scopeId)})
   and record_id is not null
   and record_id not in (select s.record_id from ops.scan_id s where ${isOfSweep(sweepId)})`

/**
 * Records ids that the sweep saw but whose current version is not stored. Leaves out records changed since `before`, which
 * the next incremental scan reads, and those in quarantine, which have been read.
 */
export function noteUnread(list: SweptList, before: string): string {
  const { resource, sweepId, startedAt } = list
  const key = quoteName(resource.table.key)
  const changed = 'cast(s.updated_at as timestamptz)'
  return `insert into ops.unread (resource, record_id, created_at, updated_at, noted_at)
    select ${quoteText(resource.name)}, s.record_id, max(s.created_at), max(s.updated_at), ${instant(startedAt)}
    from ops.scan_id s
    where ${isOfSweep(sweepId)} and ${changed} < ${instant(before)}
      and not exists (select 1 from ${recordRows(resource)} and t.${key} = s.record_id
        and t.source_updated_at >= ${changed})
      and not exists (select 1 from ops.quarantine q where q.resource = ${quoteText(resource.name)}
        and q.record_id = s.record_id and q.resolved_at is null)
      and not exists (select 1 from ops.unread u where u.resource = ${quoteText(resource.name)} and u.record_id = s.record_id)
    group by s.record_id`
}
