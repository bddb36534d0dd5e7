/** Rebuilds a DuckDB warehouse: a new file is filled from the landed pages and takes the place of the old one. */
import { basename, dirname, join } from 'node:path'
import { MusterError } from '../../lib/errors.ts'
import { carryOverLedger } from '../../state/carry-over.ts'
import { migrate } from '../../state/migrate.ts'
import { makeScratch } from '../../temporary/scratch.ts'
import {
  hasLog,
  realFile,
  removeDatabase,
  replaceDatabase,
  stampOf,
} from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { shownLanding } from '../connection/landing.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import {
  changedMeanwhile,
  instant,
  landedPages,
  type Missing,
  missingFrom,
  type Rebuild,
  type Rebuilt,
  recordRun,
  requireNothingMissing,
  tombstoneAgain,
} from './rebuild.ts'
import { type ReplayResult, replay } from './replay.ts'

/** The file that is rebuilt. Its lock keeps other processes away, from before it is read until another has its place. */
interface Original {
  readonly engine: Engine
  readonly file: string
  /** Whether there was none: then it is empty, and holds nothing but the place. */
  readonly isNew: boolean
  /** Of the file as this process left it before the pages were read. */
  readonly stamp: string
}

/** Its ledger is brought up to this version, so that it can be carried over. */
async function holdOriginal(rebuild: Rebuild, name: string): Promise<Original> {
  const isNew = !isMade(rebuild.connection)
  const engine = await openToWrite(rebuild.connection)
  try {
    if (!isNew) await migrate(engine, instant(rebuild))
    const file = realFile(name)
    // Without a log DuckDB would still write all of its structure anew: 0.2 s of the processor.
    if (hasLog(file)) await engine.run('checkpoint')
    return { engine, file, isNew, stamp: stampOf(file) }
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function letGo({ engine, file, isNew }: Original, isReplaced: boolean): Promise<void> {
  await engine.close()
  if (isNew && !isReplaced) removeDatabase(file)
}

function requireSomething({ connection }: Rebuild, { isNew }: Original, { scans }: ReplayResult): void {
  if (scans > 0 || !isNew) return
  throw new MusterError({
    what: 'there are no landed pages, and no warehouse either',
    where: shownLanding(connection),
    next: 'run muster sync first, or name the place of the pages as landing',
  })
}

async function withDraft<Result>(
  { connection }: Rebuild,
  draft: string,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openDuckdb(draft, {
    reportingZone: connection.reportingZone,
    isDraft: true,
    // As while batches are loaded: to wake a second one costs 0.05 ms a statement, of which a new file takes 4,000.
    threads: 1,
  })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

/**
 * Carries the ledger over into the draft, and tells which records are missing there. The file is open here already: to open
 * it once more in this process, and close it, would release its lock.
 */
function carryOver({ engine }: Original, draft: string): Promise<Missing[]> {
  return engine.exclusive(async engine => {
    await engine.run(`attach ${quoteText(draft)} as rebuilt`)
    try {
      await carryOverLedger(engine, 'rebuilt')
      return await missingFrom(engine, { old: 'star', rebuilt: 'rebuilt.star' })
    } finally {
      await engine.run('detach rebuilt')
    }
  })
}

async function fill(rebuild: Rebuild, original: Original, draft: string): Promise<Rebuilt> {
  const result = await withDraft(rebuild, draft, async engine => {
    await migrate(engine, instant(rebuild))
    return replay(engine, landedPages(rebuild), rebuild.onProgress)
  })
  requireSomething(rebuild, original, result)
  const missing = original.isNew ? [] : await carryOver(original, draft)
  requireNothingMissing(rebuild, missing, result)
  await withDraft(rebuild, draft, async engine => {
    await engine.transaction(tombstoneAgain)
    await recordRun(rebuild, engine, result)
  })
  return { result, missing }
}

/** A file that is lost is made of its pages; what only its ledger knew, such as watermarks, is lost. */
export async function rebuildFile(rebuild: Rebuild, name: string): Promise<Rebuilt> {
  const original = await holdOriginal(rebuild, name)
  const scratch = makeScratch(dirname(original.file))
  const draft = join(scratch.path, basename(original.file))
  let isReplaced = false
  try {
    const rebuilt = await fill(rebuild, original, draft)
    if (stampOf(original.file) !== original.stamp) throw changedMeanwhile(original.engine)
    replaceDatabase(draft, original.file)
    isReplaced = true
    return rebuilt
  } finally {
    scratch.remove()
    await letGo(original, isReplaced)
  }
}
