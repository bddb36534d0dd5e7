/** Counts pages and rows of earlier reads, from which a plan estimates the next one. */
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { numberOf } from '../ledger.ts'

/** Pages of the backfill loaded so far. */
export const backfilledPages = (engine: Engine, resource: string): Promise<number> =>
  numberOf(
    engine,
    `select cast(sum(pages) as bigint) as n from ops.scan
     where resource = $1 and kind = 'backfill' and scope is null`,
    [resource],
  )

/** Average rows of the last five incremental scans; undefined before the first of them. */
export async function averageChanges(engine: Engine, resource: string): Promise<number | undefined> {
  if (!(await existingTables(engine)).has('run_resource')) return undefined
  const rows = await engine.rows<{ n: number }>(
    `select r.records_read as n from ops.run_resource as r
     where r.resource = $1 and r.state = 'done' and exists (
       select 1 from ops.scan as w
       where w.run_id = r.run_id and w.resource = r.resource and w.kind = 'incremental')
     order by r.run_id desc limit 5`,
    [resource],
  )
  if (rows.length === 0) return undefined
  return rows.reduce((sum, row) => sum + Number(row.n), 0) / rows.length
}

/** Pages of the largest accepted snapshot of each scope. */
export async function snapshotPages(engine: Engine, resource: string): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.rows<{ scope: string; pages: number }>(
    `select scope, max(pages) as pages from ops.scan
     where resource = $1 and kind = 'snapshot' and state = 'accepted' group by scope`,
    [resource],
  )
  return new Map(rows.map(row => [row.scope, Number(row.pages)]))
}

/** Lists that were read to their end once, and snapshots with an accepted scan. */
export async function readBefore(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ resource: string }>(
    `select resource from ops.watermark where backfilled_at is not null
     union select resource from ops.scan where kind = 'snapshot' and state = 'accepted'`,
  )
  return new Set(rows.map(({ resource }) => resource))
}
