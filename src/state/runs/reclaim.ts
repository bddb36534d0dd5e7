/** Decides when to reclaim the space of replaced and removed rows, which rewrites complete tables. */
import { isWithin, weekMs } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Reclaim when this share of rows was replaced, of a resource with at least `fewRows` rows or of all together. */
const share = 0.1
const fewRows = 8192

interface Wear {
  /** Rows inserted so far, and rows replaced or removed since space was last reclaimed. */
  readonly stored: number
  readonly worn: number
}

const isWorn = ({ stored, worn }: Wear): boolean => stored > 0 && worn >= share * stored

/** Wear of each resource, from the figures of runs. */
async function wearOf(engine: Engine, since: string): Promise<Wear[]> {
  const rows = await engine.rows<Wear>(
    `select sum(rr.rows_inserted) as stored,
       sum(case when r.started_at > cast($1 as timestamptz) then rr.rows_changed + coalesce(rr.records_touched, 0) + rr.rows_removed else 0 end) as worn
     from ops.run_resource rr join ops.run r on r.run_id = rr.run_id group by rr.resource`,
    [since],
  )
  return rows.map(({ stored, worn }) => ({ stored: Number(stored), worn: Number(worn) }))
}

/** True after a run that changed rows: once a tenth of the rows was replaced, or after a week. */
export async function isReclaimDue(engine: Engine, nowMs: number): Promise<boolean> {
  const [row] = await engine.rows<{ last: string | null }>(
    'select coalesce(max(reclaimed_at), min(started_at)) as last from ops.run',
  )
  if (!row?.last) return false
  if (!isWithin(row.last, nowMs, weekMs)) return true
  const wear = await wearOf(engine, row.last)
  const all = wear.reduce(
    (sum, { stored, worn }) => ({ stored: sum.stored + stored, worn: sum.worn + worn }),
    {
      stored: 0,
      worn: 0,
    },
  )
  return [all, ...wear.filter(({ worn }) => worn >= fewRows)].some(isWorn)
}
