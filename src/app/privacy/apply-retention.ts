/** Removes data past its retention period, and rewrites a DuckDB file with too many free blocks. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { programVersion } from '../../lib/package.ts'
import { applyRetention, type Keeping, type RemovedCounts } from '../../privacy/retention.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId, recordRun, undoneRuns, updateRun, wasDone } from '../../state/runs/runs.ts'
import { freeBytes, requireFree } from '../../temporary/free-space.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { hasSlack, rewriteFile } from '../../warehouse/on-demand.ts'
import { duckdbFile, reserveOf, withLanding } from '../connection/storage.ts'
import { openMade } from '../connection/warehouse.ts'
import type { RuntimeContext } from '../runtime-context.ts'

export interface RetentionResult {
  readonly keeping: Keeping
  readonly removed: RemovedCounts
  /** Bytes before and after, if a DuckDB file was rewritten. */
  readonly file?: { readonly before: number; readonly after: number }
}

const keepingOf = ({
  retentionDays,
  piiHistoryDays,
  inboxDays,
  quarantineDays,
}: StoredConnection): Keeping => ({
  landing: retentionDays,
  ...(piiHistoryDays !== undefined && { piiHistory: piiHistoryDays }),
  inbox: inboxDays,
  quarantine: quarantineDays,
})

const at = ({ clock }: RuntimeContext): string => new Date(clock.now()).toISOString()

async function removeOld(
  engine: Engine,
  connection: StoredConnection,
  context: RuntimeContext,
): Promise<RetentionResult> {
  await migrate(engine, at(context))
  const keeping = keepingOf(connection)
  const { clock, rng, signal } = context
  const runId = newRunId(clock, rng)
  let isRecorded = false
  const record = async (engine: Engine): Promise<void> => {
    isRecorded = true
    await recordRun(engine, {
      runId,
      command: 'retention',
      arguments: '',
      startedAt: at(context),
      version: programVersion,
    })
  }
  const removed = await withLanding(connection, signal, landing =>
    applyRetention({ engine, landing, now: clock.now(), holder: runId }, keeping, record),
  )
  if (!isRecorded && (await isTooLong(engine, connection))) await record(engine)
  return { keeping, removed }
}

/** Whether the file is worth rewriting: it has enough free blocks, and a second file fits on the disk. */
async function isTooLong(engine: Engine, connection: StoredConnection): Promise<boolean> {
  const file = duckdbFile(connection)
  if (file === undefined || freeBytes(dirname(file)) < roomFor(file, connection)) return false
  return hasSlack(engine, await wasDone(engine, 'retention'))
}

async function using<Result>(
  connection: StoredConnection,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openMade(connection)
  return work(engine).finally(() => engine.close())
}

const roomFor = (file: string, connection: StoredConnection): number =>
  statSync(file).size + reserveOf(connection)

/** Rewrites the file, because removed data stays in its free blocks until then. */
async function rewriteDatabase(connection: StoredConnection): Promise<RetentionResult['file']> {
  const file = duckdbFile(connection)
  if (file === undefined) return undefined
  requireFree(dirname(file), roomFor(file, connection))
  const before = statSync(file).size
  await rewriteFile(file)
  return { before, after: statSync(file).size }
}

/** A run that was killed or ran out of disk after removing rows is finished by the next one. */
export async function keep(connection: StoredConnection, context: RuntimeContext): Promise<RetentionResult> {
  const { removal, runs } = await using(connection, async engine => ({
    removal: await removeOld(engine, connection, context),
    runs: await undoneRuns(engine, 'retention'),
  }))
  if (runs.length === 0) return removal
  const file = await rewriteDatabase(connection)
  await using(connection, async engine => {
    for (const run of runs)
      await updateRun(engine, run, { state: 'done', finished_at: at(context), message: null })
  })
  return { ...removal, ...(file && { file }) }
}
