/** Runs whose rows have been searched for ids, and those that are left. */
import type { KeyKind } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** The rows of star that may name ids which have not been noted. */
export type UnsearchedRows = 'none' | 'of this run' | 'any'

/**
 * Another version of the program may know of more columns that name ids, and so may another kind of key. A replay brings any
 * rows.
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

/** In the transaction that notes the ids: those of this run's resources, or all that runs before it left. */
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
