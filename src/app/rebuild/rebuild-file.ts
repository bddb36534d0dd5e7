/** Rebuilds a DuckDB warehouse: fills a new file from the landed pages and replaces the old one. */
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
import { shownLanding } from '../connection/storage.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import {
  changedMeanwhile,
  instant,
  landedPages,
  type MissingRows,
  missingFrom,
  recordRun,
  requireFieldPolicy,
  requireNothingMissing,
  tombstoneAgain,
  type WarehouseRebuild,
  type WarehouseRebuildResult,
} from './rebuild.ts'
import { type ReplayResult, replay } from './replay.ts'

/** The file to rebuild, locked from before it is read until it is replaced. */
interface Original {
  readonly engine: Engine
  readonly file: string
  /** Whether it did not exist: then it is an empty placeholder. */
  readonly isNew: boolean
  /** The state of the file before the pages were read. */
  readonly stamp: string
}

/** Migrates the ledger to this version, so that it can be carried over. */
async function lockOriginal(rebuild: WarehouseRebuild, name: string): Promise<Original> {
  const isNew = !isMade(rebuild.connection)
  const engine = await openToWrite(rebuild.connection)
  try {
    if (!isNew) await migrate(engine, instant(rebuild))
    const file = realFile(name)
    // Only with a log: DuckDB would otherwise rewrite the whole schema for nothing, 0.2 s of CPU.
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

function requireSomething(
  { connection }: WarehouseRebuild,
  { isNew }: Original,
  { scans }: ReplayResult,
): void {
  if (scans > 0 || !isNew) return
  throw new MusterError({
    what: 'there are no landed pages, and no warehouse either',
    where: shownLanding(connection),
    next: 'run muster sync first, or name the place of the pages as landing',
  })
}

async function withDraft<Result>(
  { connection }: WarehouseRebuild,
  draft: string,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openDuckdb(draft, {
    days: connection.days,
    isDraft: true,
    // As for loading: waking a second thread takes 0.05 ms per statement, and a new file takes 4,000 statements.
    threads: 1,
  })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

/**
 * Carries the ledger over into the draft and returns the records missing there. Uses the open file: opening and closing it a
 * second time in this process would release its lock.
 */
function carryOver({ engine }: Original, draft: string): Promise<MissingRows[]> {
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

async function fill(
  rebuild: WarehouseRebuild,
  original: Original,
  draft: string,
): Promise<WarehouseRebuildResult> {
  const result = await withDraft(rebuild, draft, async engine => {
    await migrate(engine, instant(rebuild))
    await requireFieldPolicy(original.isNew ? engine : original.engine, rebuild)
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

/** Rebuilds even a lost file from its pages; what only its ledger had, such as watermarks, is lost. */
export async function rebuildFile(rebuild: WarehouseRebuild, name: string): Promise<WarehouseRebuildResult> {
  const original = await lockOriginal(rebuild, name)
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
