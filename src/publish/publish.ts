/** Writes the published copy of a DuckDB warehouse, which analysts can read while a sync has the working file open. */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { tooManyQuarantined } from '../state/evidence/quarantine-limit.ts'
import { migrate } from '../state/migrate.ts'
import { newRunId, startRun, type Tolerance, updateRun } from '../state/runs/runs.ts'
import { type NotWhole, notWhole } from '../state/scans/wholeness.ts'
import { makeScratch } from '../temporary/scratch.ts'
import { publishedFile, replaceDatabase } from '../warehouse/duckdb/database-file.ts'
import type { Engine } from '../warehouse/engine.ts'
import { requirePublished } from './former-copy.ts'
import { type PublishedTable, writeCopy } from './published-tables.ts'

export interface Published {
  readonly runId: string
  readonly file: string
  readonly bytes: number
  readonly tables: readonly PublishedTable[]
  readonly views: readonly string[]
  /** What the copy lacks of the service. */
  readonly notWhole: readonly NotWhole[]
}

export interface PublishEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly version: string
  /** Refuses to replace the copy while a resource is not whole. */
  readonly requiresWhole?: boolean
  /** Replaces a file that is no published copy. */
  readonly isForced?: boolean
  /** What may be in quarantine. */
  readonly tolerance?: Tolerance
}

const instant = ({ clock }: PublishEffects): string => new Date(clock.now()).toISOString()

/** Analysts read it with their own user. */
export function putInPlace(draft: string, file: string): void {
  replaceDatabase(draft, file, 0o644)
}

/**
 * The draft is the default database of the connection meanwhile, so no other statement may run. The run is marked as done
 * in the copy already, whose readers never see it end.
 */
async function writeDraft(
  effects: PublishEffects,
  { runId, draft }: { readonly runId: string; readonly draft: string },
): Promise<Pick<Published, 'tables' | 'views'>> {
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

/** Records in quarantine are missing from every figure: the settings say how many may be. */
export async function requireTolerable(engine: Engine): Promise<void> {
  const failure = await tooManyQuarantined(engine, { meanwhile: 'the previous copy is unchanged' })
  if (failure) throw failure
}

/** Throws MusterError for a warehouse with resources that are not whole. */
export async function requireWhole(engine: Engine): Promise<void> {
  const lacking = (await notWhole(engine)) ?? []
  if (lacking.length === 0) return
  const words = lacking.map(({ resource, reason }) => `${resource} (${reason})`)
  throw new MusterError({
    what: `not published, because the copy would not be whole: ${words.join(', ')}`,
    next: 'run muster sync until it is accepted, or publish without --require complete; the previous copy is unchanged',
  })
}

async function write(effects: PublishEffects, runId: string): Promise<Omit<Published, 'notWhole'>> {
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
 * Replaces the published copy by the current state: star, mart, and the tables of ops that hold no personal data. When it
 * throws MusterError, the previous copy is unchanged.
 */
export async function publish(effects: PublishEffects): Promise<Published> {
  const { engine, clock, rng, version } = effects
  const runId = newRunId(clock, rng)
  await migrate(engine, instant(effects))
  await startRun(engine, {
    runId,
    command: 'publish',
    arguments: effects.requiresWhole ? '--require complete' : '',
    startedAt: instant(effects),
    version,
    tolerance: effects.tolerance,
  })
  try {
    await requireTolerable(engine)
    if (effects.requiresWhole) await requireWhole(engine)
    await requirePublished(engine, publishedFile(engine.location), effects.isForced ?? false)
    const lacking = (await notWhole(engine)) ?? []
    const published = await write(effects, runId)
    await updateRun(engine, runId, { state: 'done', finished_at: instant(effects) })
    return { ...published, notWhole: lacking }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await updateRun(engine, runId, { state: 'failed', finished_at: instant(effects), message })
    throw error
  }
}
