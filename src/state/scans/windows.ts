/** Windows: every walk with what proves it complete. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { WindowTable } from './tables.ts'

type WindowFacts = Pick<WindowTable, 'window_id' | 'resource' | 'kind' | 'run_id' | 'started_at'> &
  Partial<WindowTable>

/** A window of which nothing is read yet, unless the facts say more. */
export const freshWindow = (facts: WindowFacts): WindowTable => ({
  from_day: null,
  to_day: null,
  scope: null,
  state: 'walking',
  attempt: 1,
  next_page: 1,
  loaded_sequence: 0,
  pages: 0,
  greatest_total: 0,
  distinct_ids: 0,
  first_mark: null,
  accepted_at: null,
  ...facts,
})

export async function openWindow(engine: Engine, row: WindowTable): Promise<void> {
  await ledger(engine).insertInto('ops.window').values(row).execute()
}

export async function readWindow(engine: Engine, windowId: string): Promise<WindowTable | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('window_id', '=', windowId)
    .execute()
  return row
}

/** Windows that a run has opened so far. */
export async function countWindows(engine: Engine, runId: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>('select count(*) as n from ops.window where run_id = $1', [
    runId,
  ])
  return Number(row?.n ?? 0)
}

/** Windows of the backfill of a list, oldest first, without those that are read again because somebody asked. */
export function backfillWindows(engine: Engine, resource: string): Promise<WindowTable[]> {
  return ledger(engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '=', 'backfill')
    .where('scope', 'is', null)
    .orderBy('window_id')
    .execute()
}

export async function updateWindow(
  engine: Engine,
  windowId: string,
  change: Partial<WindowTable>,
): Promise<void> {
  await ledger(engine).updateTable('ops.window').set(change).where('window_id', '=', windowId).execute()
}

/** Gives up windows that are still walking; returns their ids. One that was accepted meanwhile stays so. */
export async function refuseWalking(
  engine: Engine,
  of: Pick<WindowTable, 'window_id'> | Pick<WindowTable, 'resource' | 'kind'>,
): Promise<string[]> {
  let query = ledger(engine)
    .updateTable('ops.window')
    .set({ state: 'refused' })
    .where('state', '=', 'walking')
    .returning('window_id')
  for (const [column, value] of Object.entries(of))
    query = query.where(column as 'window_id' | 'resource' | 'kind', '=', value)
  return (await query.execute()).map(row => row.window_id)
}

/** Scope of windows that tell nothing any more: the key could not see then what it sees now. */
export const retiredScope = 'read when the key saw less'

/** Windows of a backfill and walks under way, before the list is read from its beginning again. */
export async function retireWindows(engine: Engine, resource: string): Promise<void> {
  await refuseWalking(engine, { resource, kind: 'backfill' })
  await refuseWalking(engine, { resource, kind: 'incremental' })
  await ledger(engine)
    .updateTable('ops.window')
    .set({ scope: retiredScope })
    .where('resource', '=', resource)
    .where('kind', 'in', ['backfill', 'incremental'])
    .where('scope', 'is', null)
    .execute()
}

/** Walks that were under way when their runs ended, the newest first. */
export function walkingWindows(
  engine: Engine,
  resource: string,
  kind: WindowTable['kind'],
): Promise<WindowTable[]> {
  return ledger(engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '=', kind)
    .where('state', '=', 'walking')
    .orderBy('started_at', 'desc')
    .execute()
}

/** The walk that was under way when the last run ended, if any. */
export async function unfinishedWindow(
  engine: Engine,
  resource: string,
  kind: WindowTable['kind'],
): Promise<WindowTable | undefined> {
  return (await walkingWindows(engine, resource, kind))[0]
}

/** Of accepted walks, by our clock, ISO 8601; undefined when there is none. */
export interface MarkHistory {
  /** When the first walk that found this mark had ended. */
  readonly seen: string | undefined
  /** When the last walk over changes began. */
  readonly begun: string | undefined
}

export async function markHistory(engine: Engine, resource: string, mark: string): Promise<MarkHistory> {
  const [row] = await engine.rows<{ seen: string | null; begun: string | null }>(
    `select min(case when first_mark = $2 then accepted_at end) as seen,
       max(case when kind = 'incremental' then started_at end) as begun
     from ops.window where resource = $1 and state = 'accepted' and scope is null`,
    [resource, mark],
  )
  return { seen: row?.seen ?? undefined, begun: row?.begun ?? undefined }
}

/** Of one scope; ISO 8601. */
export interface LastReading {
  readonly started_at: string
  readonly accepted_at: string
}

/** The last reading of each scope that was accepted, by the name of the scope. */
export async function lastReadings(
  engine: Engine,
  resource: string,
): Promise<ReadonlyMap<string, LastReading>> {
  const rows = await engine.rows<LastReading & { scope: string }>(
    `select scope, max(started_at) as started_at, max(accepted_at) as accepted_at from ops.window
     where resource = $1 and state = 'accepted' and scope is not null group by scope`,
    [resource],
  )
  return new Map(rows.map(row => [row.scope, row]))
}

/** Inside a merge, when the temporary table stage_seen is there: the ids on the pages of its batch. */
export async function rememberStagedIds(engine: Engine, windowId: string): Promise<void> {
  await engine.run(
    `insert into ops.window_id select $1, seen.id from stage_seen seen
     where not exists (select 1 from ops.window_id w where w.window_id = $1 and w.record_id = seen.id)`,
    [windowId],
  )
}

export async function countIds(engine: Engine, windowId: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    'select count(*) as n from ops.window_id where window_id = $1',
    [windowId],
  )
  return Number(row?.n ?? 0)
}

export async function forgetIds(engine: Engine, windowId: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.window_id').where('window_id', '=', windowId).execute()
}
