/**
 * Writes the published copy of a DuckDB warehouse, which analysts can read while a sync has the working file open. Refuses to
 * overwrite anything but a previous published copy.
 */
import { lstatSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { MusterError, UsageError } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { tooManyQuarantined } from '../state/evidence/quarantine-limit.ts'
import { migrate } from '../state/migrate.ts'
import { newRunId, startRun, type Tolerance, updateRun, wasDone } from '../state/runs/runs.ts'
import { type IncompleteResource, incompleteResources } from '../state/scans/completeness.ts'
import { tableInQueries } from '../state/tables.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { definitionsIn } from '../warehouse/duckdb/catalogue.ts'
import { publishedFile, replaceDatabase } from '../warehouse/duckdb/database-file.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import { type PublishedTable, writeCopy } from './published-tables.ts'

const refuseToReplace = (file: string, what: string, next: string): UsageError =>
  new UsageError({ what, where: file, next: `${next}; nothing was changed` })

/** A published copy has runs but no personal data; a working warehouse has both. */
async function isCopy(engine: Engine, file: string): Promise<boolean> {
  return engine.exclusive(async engine => {
    await engine.run(`attach ${quoteText(file)} as previous (read_only)`)
    try {
      const tables = await definitionsIn(engine, 'previous')
      const hasRuns = tables.some(({ schema, name }) => `${schema}.${name}` === tableInQueries('run'))
      return hasRuns && !tables.some(({ schema }) => schema === 'pii')
    } finally {
      await engine.run('detach previous')
    }
  })
}

/** If an analyst has the copy open for writing, it cannot be read: the ledger then shows whether there was one. */
async function isOurs(engine: Engine, file: string): Promise<boolean> {
  try {
    return await isCopy(engine, file)
  } catch (error) {
    const isLocked = /could not set lock|being used by another process/i.test(String(error))
    return isLocked && (await wasDone(engine, 'publish'))
  }
}

/** Throws unless `file` may be replaced. `engine` has the working file open. */
export async function requirePublished(engine: Engine, file: string, isForced: boolean): Promise<void> {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink())
    throw refuseToReplace(file, 'the published copy would replace a link', 'move the link away')
  if (found.isDirectory())
    throw new MusterError({
      what: 'the published copy cannot be written: there is a folder in its place',
      where: file,
      next: 'check its folder, and move it away',
    })
  if (!found.isFile()) throw refuseToReplace(file, 'there is a device or a pipe in its place', 'move it away')
  if (isForced || (await isOurs(engine, file))) return
  throw refuseToReplace(
    file,
    'the file in the place of the published copy was not written by muster',
    'move it away, or publish with --force',
  )
}

export interface PublishedCopy {
  readonly runId: string
  readonly file: string
  readonly bytes: number
  readonly tables: readonly PublishedTable[]
  readonly views: readonly string[]
  /** Resources that are incomplete in the copy. */
  readonly incomplete: readonly IncompleteResource[]
}

interface PublishEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly version: string
  /** Refuses to replace the copy while a resource is incomplete. */
  readonly requiresComplete?: boolean
  /** Replaces a file that is not a published copy. */
  readonly isForced?: boolean
  /** Tolerated number of records in quarantine. */
  readonly tolerance?: Tolerance
}

const instant = ({ clock }: PublishEffects): string => new Date(clock.now()).toISOString()

/** Makes it readable for all, as analysts use their own accounts. */
export function putInPlace(draft: string, file: string): void {
  replaceDatabase(draft, file, 0o644)
}

/**
 * The draft is the connection's default database during this, so no other statement may run. The copy already marks
 * the run as done, as its readers never see it end.
 */
async function writeDraft(
  effects: PublishEffects,
  { runId, draft }: { readonly runId: string; readonly draft: string },
): Promise<Pick<PublishedCopy, 'tables' | 'views'>> {
  const { engine } = effects
  return writeCopy(engine, draft, () =>
    updateRun(engine, runId, { state: 'done', finished_at: instant(effects) }),
  )
}

export function failureOf(file: string, cause: unknown): MusterError {
  if (cause instanceof MusterError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  return new MusterError({
    what: `the published copy cannot be written: ${text.split('\n')[0]}`,
    where: file,
    next: 'check its folder, permissions and free space; the previous copy, if there is one, is unchanged',
    cause,
  })
}

/** Refuses if more records are in quarantine than the settings tolerate: they are missing from every figure. */
export async function requireTolerable(engine: Engine): Promise<void> {
  const failure = await tooManyQuarantined(engine, { meanwhile: 'the previous copy is unchanged' })
  if (failure) throw failure
}

/** Throws MusterError for a warehouse with incomplete resources. */
export async function requireCompleteSources(engine: Engine): Promise<void> {
  const incomplete = (await incompleteResources(engine)) ?? []
  if (incomplete.length === 0) return
  const words = incomplete.map(({ resource, reason }) => `${resource} (${reason})`)
  throw new MusterError({
    what: `not published, because the copy would be incomplete: ${words.join(', ')}`,
    next: 'run muster sync until it is accepted, or publish without --require complete; the previous copy is unchanged',
  })
}

async function write(effects: PublishEffects, runId: string): Promise<Omit<PublishedCopy, 'incomplete'>> {
  const file = publishedFile(effects.engine.location)
  const scratch = makeScratch(dirname(file))
  const draft = join(scratch.path, basename(file))
  try {
    const copied = await effects.engine.exclusive(engine =>
      writeDraft({ ...effects, engine }, { runId, draft }),
    )
    putInPlace(draft, file)
    return { runId, file, bytes: statSync(file).size, ...copied }
  } catch (error) {
    throw failureOf(file, error)
  } finally {
    scratch.remove()
  }
}

/**
 * Replaces the published copy by the current state: star, mart, and the tables of ops without personal data. When it
 * throws MusterError, the previous copy is unchanged.
 */
export async function publish(effects: PublishEffects): Promise<PublishedCopy> {
  const { engine, clock, rng, version } = effects
  const runId = newRunId(clock, rng)
  await migrate(engine, instant(effects))
  await startRun(engine, {
    runId,
    command: 'publish',
    arguments: effects.requiresComplete ? '--require complete' : '',
    startedAt: instant(effects),
    version,
    tolerance: effects.tolerance,
  })
  try {
    await requireTolerable(engine)
    if (effects.requiresComplete) await requireCompleteSources(engine)
    await requirePublished(engine, publishedFile(engine.location), effects.isForced ?? false)
    const incomplete = (await incompleteResources(engine)) ?? []
    const published = await write(effects, runId)
    await updateRun(engine, runId, { state: 'done', finished_at: instant(effects) })
    return { ...published, incomplete }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await updateRun(engine, runId, { state: 'failed', finished_at: instant(effects), message })
    throw error
  }
}
