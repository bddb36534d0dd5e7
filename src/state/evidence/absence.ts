/** Sums up deletions per list: counts of the service and of the warehouse, sweeps, candidates and tombstones. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger, numberOf, onlyRow } from '../ledger.ts'
import type { ListCountRow } from '../scans/tables.ts'
import { outOfSight } from './swept-records.ts'

/** Counts the stored records that are not deleted; `condition` is SQL on the alias `t`. */
export const countLive = (engine: Engine, resource: Resource, condition = 'true'): Promise<number> =>
  numberOf(engine, `select count(*) as n from ${liveRecords(resource)} and ${condition}`)

export async function recordCount(engine: Engine, row: ListCountRow): Promise<void> {
  await ledger(engine).insertInto('ops.list_count').values(row).execute()
}

/** Counts live records that the scope can see, and how many have evidence against them. */
export async function storedCounts(
  engine: Engine,
  resource: Resource,
  scopeId: string,
): Promise<{ readonly stored: number; readonly waiting: number }> {
  const { stored, waiting } = await onlyRow<{ stored: number; waiting: number }>(
    engine,
    `select count(*) as stored, count(e.record_id) as waiting from (
       select ${recordKey(resource)} as id from ${liveRecords(resource)}
         and not ${outOfSight(resource, scopeId)}) as h
     left join (select distinct record_id from ops.evidence where resource = $1 and void_at is null) as e
       on e.record_id = h.id`,
    [resource.name],
  )
  return { stored: Number(stored), waiting: Number(waiting) }
}

export interface Absence {
  readonly resource: string
  /** Records with a tombstone now. */
  readonly tombstoned: number
  /** Records whose evidence is not enough yet. */
  readonly candidates: number
  /** ISO 8601: start of the last accepted sweep; null before the first. */
  readonly sweptAt: string | null
  /** Last count of the service, and the rows stored then; null before the first count. */
  readonly total: number | null
  readonly stored: number | null
  readonly countedAt: string | null
}

/** Whether the counts are newer than the last sweep, which is better evidence than counts. */
export const isNewerCount = ({ sweptAt, countedAt }: Absence): boolean =>
  countedAt !== null && (sweptAt === null || Date.parse(countedAt) > Date.parse(sweptAt))

const latest = (table: string, by: string, where = 'true'): string =>
  `select * from (select x.*, row_number() over (partition by resource order by ${by} desc) as place
   from ${table} as x where ${where}) as ranked where place = 1`

/** Only resources with any of these; empty for a published copy, which has none of the tables. */
export async function absences(engine: Engine): Promise<Absence[]> {
  const tables = await existingTables(engine)
  if (!tables.has('evidence') || !tables.has('list_count')) return []
  const rows = await engine.rows<Record<keyof Absence, string | number | null>>(
    `with named as (
       select resource from ops.sweep union select resource from ops.list_count
       union select resource from ops.evidence union select resource from ops.deletion),
     tombstoned as (select resource, count(*) as n from ops.deletion where undeleted_at is null group by resource),
     candidate as (
       select e.resource, count(distinct e.record_id) as n from ops.evidence e
       where e.void_at is null and not exists (
         select 1 from ops.deletion d where d.resource = e.resource and d.record_id = e.record_id and d.undeleted_at is null)
       group by e.resource),
     swept as (${latest('ops.sweep', 'started_at', `state = 'accepted'`)}),
     counted as (${latest('ops.list_count', 'counted_at')})
     select n.resource, coalesce(g.n, 0) as tombstoned, coalesce(s.n, 0) as candidates,
       w.started_at as "sweptAt", c.total, c.stored, c.counted_at as "countedAt"
     from named n left join tombstoned g on g.resource = n.resource left join candidate s on s.resource = n.resource
       left join swept w on w.resource = n.resource left join counted c on c.resource = n.resource
     order by n.resource`,
  )
  const numberOf = (value: string | number | null): number | null => (value === null ? null : Number(value))
  return rows.map(row => ({
    resource: String(row.resource),
    tombstoned: Number(row.tombstoned),
    candidates: Number(row.candidates),
    sweptAt: row.sweptAt as string | null,
    total: numberOf(row.total),
    stored: numberOf(row.stored),
    countedAt: row.countedAt as string | null,
  }))
}
