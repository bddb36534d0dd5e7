/**
 * Keeps the data of a connection as its settings say: what is too old goes, and a file that grew without need is written anew.
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { programVersion } from '../../lib/package.ts'
import { applyRetention, type Keeping, type Removed } from '../../privacy/retention.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId, recordRun, undoneRuns, updateRun, wasDone } from '../../state/runs/runs.ts'
import { freeBytes, requireFree } from '../../temporary/free-space.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { hasSlack, rewriteFile } from '../../warehouse/on-demand.ts'
import { withLanding } from '../connection/landing.ts'
import { reserveOf } from '../connection/room.ts'
import { duckdbFile, openMade } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'

export interface Kept {
  readonly keeping: Keeping
  readonly removed: Removed
  /** Bytes, where a DuckDB file was written anew. */
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

const at = ({ clock }: Surroundings): string => new Date(clock.now()).toISOString()

async function removeOld(engine: Engine, connection: StoredConnection, around: Surroundings): Promise<Kept> {
  await migrate(engine, at(around))
  const keeping = keepingOf(connection)
  const { clock, rng, signal } = around
  const runId = newRunId(clock, rng)
  let isRecorded = false
  const record = async (engine: Engine): Promise<void> => {
    isRecorded = true
    await recordRun(engine, {
      runId,
      command: 'retention',
      arguments: '',
      startedAt: at(around),
      version: programVersion,
    })
  }
  const removed = await withLanding(connection, signal, landing =>
    applyRetention({ engine, landing, now: clock.now(), holder: runId }, keeping, record),
  )
  if (!isRecorded && (await isTooLong(engine, connection))) await record(engine)
  return { keeping, removed }
}

/** Nobody has to have such a file shortened: where there is no room for a second one it stays. */
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

/** What was removed from a file is in its free blocks until the file is written anew. */
async function writeAnew(connection: StoredConnection): Promise<Kept['file']> {
  const file = duckdbFile(connection)
  if (file === undefined) return undefined
  requireFree(dirname(file), roomFor(file, connection))
  const before = statSync(file).size
  await rewriteFile(file)
  return { before, after: statSync(file).size }
}

/** A run that was killed, or found no room, has removed rows and is not done: the next one finishes it. */
export async function keep(connection: StoredConnection, around: Surroundings): Promise<Kept> {
  const { kept, runs } = await using(connection, async engine => ({
    kept: await removeOld(engine, connection, around),
    runs: await undoneRuns(engine, 'retention'),
  }))
  if (runs.length === 0) return kept
  const file = await writeAnew(connection)
  await using(connection, async engine => {
    for (const run of runs)
      await updateRun(engine, run, { state: 'done', finished_at: at(around), message: null })
  })
  return { ...kept, ...(file && { file }) }
}
