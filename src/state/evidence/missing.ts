/** What the warehouse holds of a list beside what a sweep saw of it; SQL for both engines. */
import type { Resource } from '../../contract/fields/resource.ts'
import { constantsOf, isMember } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

export interface SweptList {
  readonly resource: Resource
  readonly sweepId: string
  readonly scopeId: string
  /** ISO 8601: what was fetched later is not judged, as it may have come to be after its page was swept. */
  readonly startedAt: string
  /** ISO 8601: start of the last sweep that was read whole with this scope; null before the first. */
  readonly baseline: string | null
}

const keyOf = ({ table }: Resource): string => `t.${quoteName(table.key)}`
const instant = (time: string): string => `cast(${quoteText(time)} as timestamptz)`

/** Rows of records, without those known by name only. */
export function recordRows({ table }: Resource, alias = 't'): string {
  const conditions = constantsOf(table).map(
    ([name, value]) => `${alias}.${quoteName(name)} = ${quoteText(value)}`,
  )
  if (isMember(table)) conditions.push(`not ${alias}.is_stub`, `${alias}.${quoteName(table.key)} <> '-1'`)
  const where = ['true', ...conditions].join(' and ')
  return `star.${quoteName(table.name)} as ${alias} where ${where}`
}

export const liveRecords = (resource: Resource): string => `${recordRows(resource)} and not t.is_deleted`

/**
 * Holds for a row `t` that was fetched by a run of a scope, given as SQL. A record that was read by its id and found as it
 * was keeps the run that brought it: the ledger knows who read it last.
 */
export const shownTo = (resource: Resource, scope: string): string =>
  `(exists (select 1 from ops.key_scope k where k.run_id = t.run_id and k.scope_id = ${scope})
    or exists (select 1 from ops.discovered d join ops.key_scope k on k.run_id = d.fetched_by
      where d.resource = ${quoteText(resource.name)} and d.record_id = ${keyOf(resource)} and k.scope_id = ${scope}))`

/** Holds for a row `t` that was fetched by a run of this scope. */
export const fetchedWith = (resource: Resource, scopeId: string): string =>
  shownTo(resource, quoteText(scopeId))

/** Holds for a row `t` that this scope did not show when it was first swept, and has not shown since. */
export const outOfSight = (resource: Resource, scopeId: string): string =>
  `exists (select 1 from ops.out_of_sight o where o.resource = ${quoteText(resource.name)}
    and o.record_id = ${keyOf(resource)} and o.scope_id = ${quoteText(scopeId)})`

/** Holds for an id `s` that a scan of this sweep saw. */
const isOfSweep = (sweepId: string): string =>
  `s.scan_id in (select scan_id from ops.scan where sweep_id = ${quoteText(sweepId)})`

const isSeen = ({ resource, sweepId }: SweptList): string =>
  `exists (select 1 from ops.scan_id s where ${isOfSweep(sweepId)} and s.record_id = ${keyOf(resource)})`

/** Rows that were there before the sweep began. */
const heldBefore = ({ resource, startedAt }: SweptList): string =>
  `${liveRecords(resource)} and t.loaded_at < ${instant(startedAt)}`

/** Rows that this scope has shown: that they are missing now means something. */
function judged(list: SweptList): string {
  const { resource, scopeId, baseline } = list
  if (baseline === null) return fetchedWith(resource, scopeId)
  return `(${fetchedWith(resource, scopeId)} or (t.loaded_at < ${instant(baseline)} and not ${outOfSight(resource, scopeId)}))`
}

export const judgedCount = (list: SweptList): string =>
  `select count(*) as n from ${heldBefore(list)} and ${judged(list)}`

export const missingIds = (list: SweptList): string =>
  `select ${keyOf(list.resource)} as id from ${heldBefore(list)} and ${judged(list)} and not ${isSeen(list)} order by 1`

/** Rows of another scope that this one does not show, and was not known not to show. */
const others = (list: SweptList): string => {
  const { resource, scopeId } = list
  return `${heldBefore(list)} and not ${judged(list)} and not ${isSeen(list)} and not ${outOfSight(resource, scopeId)}`
}

export const unseenOthers = (list: SweptList): string => `select count(*) as n from ${others(list)}`

/** From now on they are known to be out of its sight. */
export const rememberOutOfSight = (list: SweptList): string => {
  const { resource, scopeId, startedAt } = list
  return `insert into ops.out_of_sight (resource, record_id, scope_id, since)
    select ${quoteText(resource.name)}, ${keyOf(resource)}, ${quoteText(scopeId)}, ${instant(startedAt)} from ${others(list)}`
}

export const forgetOutOfSight = ({ resource, scopeId, sweepId }: SweptList): string =>
  `delete from ops.out_of_sight where resource = ${quoteText(resource.name)} and scope_id = ${quoteText(scopeId)}
   and record_id in (select s.record_id from ops.scan_id s where ${isOfSweep(sweepId)})`

/** Tombstoned records that the sweep saw, unless they were found gone after it began. */
export const revivedIds = (list: SweptList): string =>
  `select ${keyOf(list.resource)} as id from ${recordRows(list.resource)}
   and t.is_deleted and t.deleted_at < ${instant(list.startedAt)} and ${isSeen(list)} order by 1`

/** Witnesses from before the sweep of records that it saw. */
export const voidSeen = ({ resource, sweepId, startedAt }: SweptList): string =>
  `update ops.witness set void_at = ${instant(startedAt)}, void_reason = ${quoteText(`seen by sweep ${sweepId}`)}
   where resource = ${quoteText(resource.name)} and void_at is null and seen_at < ${instant(startedAt)}
   and record_id in (select s.record_id from ops.scan_id s where ${isOfSweep(sweepId)})`

/**
 * Records that the sweep saw and the warehouse lacks or holds in an older version, as far as the next walk over changes
 * would not read them anyway: `before` is where that walk ends. What is in quarantine was read.
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
