/** What is known of deletions, list by list: counts beside each other, sweeps, suspects and tombstones. */

import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { ListCountRow } from '../scans/tables.ts'
import { liveRecords, outOfSight } from './missing.ts'

export async function recordCount(engine: Engine, row: ListCountRow): Promise<void> {
  await ledger(engine).insertInto('ops.list_count').values(row).execute()
}

/** Live records that this scope has not been found unable to see, and those of them that somebody found gone. */
export async function witnessedCounts(
  engine: Engine,
  resource: Resource,
  scopeId: string,
): Promise<{ readonly held: number; readonly waiting: number }> {
  const [row] = await engine.rows<{ held: number; waiting: number }>(
    `select count(*) as held, count(w.record_id) as waiting from (
       select t.${quoteName(resource.table.key)} as id from ${liveRecords(resource)}
         and not ${outOfSight(resource, scopeId)}) as h
     left join (select distinct record_id from ops.witness where resource = $1 and void_at is null) as w
       on w.record_id = h.id`,
    [resource.name],
  )
  return { held: Number(row?.held ?? 0), waiting: Number(row?.waiting ?? 0) }
}

export interface Absence {
  readonly resource: string
  /** Records that are tombstoned now. */
  readonly tombstoned: number
  /** Records of which one witness says that they are gone. */
  readonly suspected: number
  /** ISO 8601: start of the last sweep that was accepted; null before the first. */
  readonly sweptAt: string | null
  /** What the service counted last and what was held then; null before the first count. */
  readonly total: number | null
  readonly held: number | null
  readonly countedAt: string | null
}

/** Whether the counts are of after the last sweep, which tells more than they do. */
export const isNewerCount = ({ sweptAt, countedAt }: Absence): boolean =>
  countedAt !== null && (sweptAt === null || Date.parse(countedAt) > Date.parse(sweptAt))

const latest = (table: string, by: string, where = 'true'): string =>
  `select * from (select x.*, row_number() over (partition by resource order by ${by} desc) as place
   from ${table} as x where ${where}) as ranked where place = 1`

/** Of every resource that has something to tell; empty for a file that does not keep it. */
export async function absences(engine: Engine): Promise<Absence[]> {
  const held = await existingTables(engine)
  if (!held.has('witness') || !held.has('list_count')) return []
  const rows = await engine.rows<Record<keyof Absence, string | number | null>>(
    `with named as (
       select resource from ops.sweep union select resource from ops.list_count
       union select resource from ops.witness union select resource from ops.deletion),
     gone as (select resource, count(*) as n from ops.deletion where undeleted_at is null group by resource),
     suspect as (
       select w.resource, count(distinct w.record_id) as n from ops.witness w
       where w.void_at is null and not exists (
         select 1 from ops.deletion d where d.resource = w.resource and d.record_id = w.record_id and d.undeleted_at is null)
       group by w.resource),
     swept as (${latest('ops.sweep', 'started_at', `state = 'accepted'`)}),
     counted as (${latest('ops.list_count', 'counted_at')})
     select n.resource, coalesce(g.n, 0) as tombstoned, coalesce(s.n, 0) as suspected,
       w.started_at as "sweptAt", c.total, c.held, c.counted_at as "countedAt"
     from named n left join gone g on g.resource = n.resource left join suspect s on s.resource = n.resource
       left join swept w on w.resource = n.resource left join counted c on c.resource = n.resource
     order by n.resource`,
  )
  const numberOf = (value: string | number | null): number | null => (value === null ? null : Number(value))
  return rows.map(row => ({
    resource: String(row.resource),
    tombstoned: Number(row.tombstoned),
    suspected: Number(row.suspected),
    sweptAt: row.sweptAt as string | null,
    total: numberOf(row.total),
    held: numberOf(row.held),
    countedAt: row.countedAt as string | null,
  }))
}
