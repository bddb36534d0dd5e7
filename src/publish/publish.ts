/** Writes the published copy of a DuckDB warehouse: what analysts may read while a sync holds the working file. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { migrate } from '../state/migrate.ts'
import { newRunId } from '../state/runs/run-id.ts'
import { startRun, updateRun } from '../state/runs/runs.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { publishedFile } from './published-file.ts'
import { copyOpenTables, type PublishedTable } from './published-tables.ts'

export interface Published {
  readonly runId: string
  readonly file: string
  readonly bytes: number
  readonly tables: readonly PublishedTable[]
  readonly views: readonly string[]
}

export interface PublishEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly version: string
}

const instant = ({ clock }: PublishEffects): string => new Date(clock.now()).toISOString()

/** One name, not one a process: the lock on the working file lets only one process publish, so what lies there is a relic. */
const draftOf = (file: string): string => `${file}.writing`

function removeDraft(file: string): void {
  for (const relic of [draftOf(file), `${draftOf(file)}.wal`]) rmSync(relic, { force: true })
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Readers that hold the old file keep reading it: a rename leaves its bytes alone. */
function putInPlace(file: string): void {
  const draft = draftOf(file)
  chmodSync(draft, 0o644)
  syncToDisk(draft)
  renameSync(draft, file)
  syncToDisk(dirname(file))
}

/** The engine's statements are one connection's, so nobody else may run one while the draft is the default database. */
async function writeDraft(
  effects: PublishEffects,
  runId: string,
): Promise<Pick<Published, 'tables' | 'views'>> {
  const { engine } = effects
  const file = publishedFile(engine.location)
  const [working] = await engine.rows<{ name: string }>('select current_database() as name')
  const main = working?.name ?? ''
  await engine.run(`attach ${quoteText(draftOf(file))} as published (block_size 16384)`)
  try {
    await engine.run('use published')
    const copied = await copyOpenTables(engine, main)
    await engine.run(`update published.ops.run set state = 'done', finished_at = $2 where run_id = $1`, [
      runId,
      instant(effects),
    ])
    await engine.run(`use ${quoteName(main)}`)
    await engine.run('checkpoint published')
    return copied
  } finally {
    await engine.run(`use ${quoteName(main)}`)
    await engine.run('detach published')
  }
}

function failure(file: string, cause: unknown): MusterError {
  if (cause instanceof MusterError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  return new MusterError({
    what: `the published copy cannot be written: ${text.split('\n')[0]}`,
    where: file,
    next: 'check its folder, permissions and free space; the copy of before, if there is one, is unchanged',
    cause,
  })
}

async function write(effects: PublishEffects, runId: string): Promise<Published> {
  const file = publishedFile(effects.engine.location)
  try {
    removeDraft(file)
    const copied = await effects.engine.exclusive(engine => writeDraft({ ...effects, engine }, runId))
    putInPlace(file)
    return { runId, file, bytes: statSync(file).size, ...copied }
  } catch (error) {
    removeDraft(file)
    throw failure(file, error)
  }
}

/**
 * Replaces the published copy with the state of now: all of star and mart, and of ops what holds no record of anybody.
 * Throws MusterError, after which the copy of before is untouched.
 */
export async function publish(effects: PublishEffects): Promise<Published> {
  const { engine, clock, rng, version } = effects
  const runId = newRunId(clock, rng)
  await migrate(engine, instant(effects))
  await startRun(engine, { runId, command: 'publish', arguments: '', startedAt: instant(effects), version })
  try {
    const published = await write(effects, runId)
    await updateRun(engine, runId, { state: 'done', finished_at: instant(effects) })
    return published
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await updateRun(engine, runId, { state: 'failed', finished_at: instant(effects), message })
    throw error
  }
}
