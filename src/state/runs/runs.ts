/** Records runs and DAG tasks: what each did, read, changed and spent, and how it ended. */

import type { Clock } from '../../lib/clock.ts'
import type { Rng } from '../../lib/rng.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { DagTaskRow, RunResourceRow, RunRow } from './tables.ts'

/** Sorts by the start of the run; random letters tell apart two runs of the same millisecond. */
export function newRunId(clock: Clock, rng: Rng): string {
  const letters = Math.floor(rng() * 36 ** 4)
    .toString(36)
    .padStart(4, '0')
  return `${new Date(clock.now()).toISOString().replace(/[-:.]/g, '')}-${letters}`
}

export type RunFigures = { readonly records_touched: number } & Pick<
  RunRow,
  | 'requests'
  | 'retries'
  | 'records_read'
  | 'rows_inserted'
  | 'rows_changed'
  | 'rows_removed'
  | 'records_unchanged'
  | 'quarantined'
>

export const noFigures: RunFigures = {
  requests: 0,
  retries: 0,
  records_read: 0,
  rows_inserted: 0,
  rows_changed: 0,
  records_touched: 0,
  rows_removed: 0,
  records_unchanged: 0,
  quarantined: 0,
}

interface RunStart {
  readonly runId: string
  readonly command: string
  readonly arguments: string
  readonly startedAt: string
  readonly version: string
  /** From the settings; left out by runs without settings. */
  readonly tolerance?: Tolerance | undefined
}

/** Up to where a resource counts as complete: max records in quarantine, and the resources whose schema must not drift. */
export interface Tolerance {
  readonly records: number
  readonly percent: number
  readonly frozen?: readonly string[]
}

/** Marks running runs whose process died as failed; their end stays null, as it is unknown. */
async function closeLostRuns(engine: Engine): Promise<void> {
  await engine.transaction(async engine => {
    for (const id of await lostRuns(engine)) {
      const message = 'the process died without finishing'
      await updateRun(engine, id, { state: 'failed', message })
    }
  })
}

/** Ids of runs that have not ended yet. */
export async function runningRuns(engine: Engine): Promise<string[]> {
  const running = await ledger(engine)
    .selectFrom('ops.run')
    .select('run_id')
    .where('state', '=', 'running')
    .orderBy('run_id')
    .execute()
  return running.map(row => row.run_id)
}

/** Runs of a command that did not finish, whether or not that is recorded. */
export async function undoneRuns(engine: Engine, command: string): Promise<string[]> {
  const undone = await ledger(engine)
    .selectFrom('ops.run')
    .select('run_id')
    .where('command', '=', command)
    .where('state', '<>', 'done')
    .execute()
  return undone.map(row => row.run_id)
}

/** Ids of runs whose process died before they ended; the next sync records that. */
export async function lostRuns(engine: Engine): Promise<string[]> {
  const lost: string[] = []
  for (const id of await runningRuns(engine)) if (!(await engine.isPresent(id))) lost.push(id)
  return lost
}

export async function startRun(engine: Engine, start: RunStart): Promise<void> {
  await closeLostRuns(engine)
  await engine.announce(start.runId)
  await recordRun(engine, start)
}

/** Records the start of a run whose presence is announced already; works inside a transaction too. */
export async function recordRun(engine: Engine, start: RunStart): Promise<void> {
  await ledger(engine)
    .insertInto('ops.run')
    .values({
      ...noFigures,
      run_id: start.runId,
      command: start.command,
      arguments: start.arguments,
      state: 'running',
      started_at: start.startedAt,
      finished_at: null,
      quarantine_records: start.tolerance?.records ?? null,
      quarantine_percent: start.tolerance?.percent ?? null,
      frozen: start.tolerance?.frozen?.join(' ') ?? null,
      discovered_at: null,
      reclaimed_at: null,
      message: null,
      program_version: start.version,
    })
    .execute()
}

/** Id of the first run, which identifies a warehouse; undefined before it. */
export async function firstRun(engine: Engine): Promise<string | undefined> {
  const run = await ledger(engine)
    .selectFrom('ops.run')
    .select('run_id')
    .orderBy('run_id')
    .limit(1)
    .executeTakeFirst()
  return run?.run_id
}

/** Whether a run of a command has ever finished. */
export async function wasDone(engine: Engine, command: string): Promise<boolean> {
  const run = await ledger(engine)
    .selectFrom('ops.run')
    .select('run_id')
    .where('command', '=', command)
    .where('state', '=', 'done')
    .limit(1)
    .executeTakeFirst()
  return run !== undefined
}

export async function updateRun(engine: Engine, runId: string, change: Partial<RunRow>): Promise<void> {
  await ledger(engine).updateTable('ops.run').set(change).where('run_id', '=', runId).execute()
}

/** Adds to the figures of a run, in the transaction that writes the rows. */
export async function addToRun(engine: Engine, runId: string, figures: Partial<RunFigures>): Promise<void> {
  const added = Object.entries(figures)
  if (added.length === 0) return
  const sums = added.map(([name], index) => `${name} = coalesce(${name}, 0) + cast($${index + 2} as bigint)`)
  const values = added.map(([, value]) => Number(value))
  await engine.run(`update ops.run set ${sums.join(', ')} where run_id = $1`, [runId, ...values])
}

export async function recordResource(engine: Engine, row: RunResourceRow): Promise<void> {
  await ledger(engine)
    .deleteFrom('ops.run_resource')
    .where('run_id', '=', row.run_id)
    .where('resource', '=', row.resource)
    .execute()
  await ledger(engine).insertInto('ops.run_resource').values(row).execute()
}

export async function recentRuns(engine: Engine, limit: number): Promise<RunRow[]> {
  return ledger(engine).selectFrom('ops.run').selectAll().orderBy('started_at', 'desc').limit(limit).execute()
}

/** Finds a run by its id, or by a unique prefix of it. */
export async function runNamed(engine: Engine, id: string): Promise<RunRow | undefined> {
  const rows = await ledger(engine)
    .selectFrom('ops.run')
    .selectAll()
    .where('run_id', 'like', `${id.replace(/[^\w-]/g, '')}%`)
    .orderBy('run_id')
    .limit(2)
    .execute()
  return rows.find(row => row.run_id === id) ?? (rows.length === 1 ? rows[0] : undefined)
}

export async function resourcesOfRun(engine: Engine, runId: string): Promise<RunResourceRow[]> {
  return ledger(engine)
    .selectFrom('ops.run_resource')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('resource')
    .execute()
}

/** When the sync before this one began; undefined for the first. */
export async function lastSyncStart(engine: Engine, runId: string): Promise<string | undefined> {
  const row = await ledger(engine)
    .selectFrom('ops.run')
    .select('started_at')
    .where('command', '=', 'sync')
    .where('run_id', '<>', runId)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.started_at
}

export async function recordDagTasks(engine: Engine, rows: readonly DagTaskRow[]): Promise<void> {
  await engine.transaction(async engine => {
    for (const row of rows) {
      await ledger(engine)
        .deleteFrom('ops.dag_task')
        .where('dag_run_id', '=', row.dag_run_id)
        .where('task', '=', row.task)
        .execute()
      await ledger(engine).insertInto('ops.dag_task').values(row).execute()
    }
  })
}

/**
 * A fingerprint of everything that runs have read and committed: equal at two times if no run committed a row, a watermark or
 * a scan in between. A refused run does not change it.
 */
export async function activityOf(engine: Engine): Promise<string> {
  const runs = await engine.rows(
    `select run_id, records_read, rows_inserted, rows_changed, rows_removed, quarantined from ops.run
     where records_read + rows_inserted + rows_changed + rows_removed + quarantined > 0 order by run_id`,
  )
  const watermarks = await ledger(engine)
    .selectFrom('ops.watermark')
    .selectAll()
    .orderBy('resource')
    .execute()
  const scans = await ledger(engine).selectFrom('ops.scan').selectAll().orderBy('scan_id').execute()
  return JSON.stringify([runs, watermarks, scans])
}
