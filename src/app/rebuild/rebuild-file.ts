/** Rebuilds a DuckDB warehouse: a new file is filled from the landed pages and takes the place of the old one. */
import { MusterError } from '../../lib/errors.ts'
import { carryOverLedger } from '../../state/carry-over.ts'
import { migrate } from '../../state/migrate.ts'
import { temporaryPlace } from '../../temporary/places.ts'
import { replaceDatabase } from '../../warehouse/duckdb/database-file.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import {
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

/**
 * Opening the file to write proves that no other process writes it. Its ledger is brought up to this version, so that it
 * can be carried over.
 */
async function prepareOld(rebuild: Rebuild): Promise<void> {
  const engine = await openToWrite(rebuild.connection)
  try {
    await migrate(engine, instant(rebuild))
  } finally {
    await engine.close()
  }
}

function requireSomething({ connection }: Rebuild, { scans }: ReplayResult): void {
  if (scans > 0 || isMade(connection)) return
  throw new MusterError({
    what: 'there are no landed pages, and no warehouse either',
    where: connection.landing,
    next: 'run muster sync first, or name the folder of the pages as landing',
  })
}

/** Carries the ledger over from the old file, and tells which of its records are missing here. */
function carryOver(engine: Engine, oldFile: string): Promise<Missing[]> {
  return engine.exclusive(async engine => {
    await engine.run(`attach ${quoteText(oldFile)} as old (read_only)`)
    try {
      await carryOverLedger(engine, 'old')
      return await missingFrom(engine, { old: 'old.star', rebuilt: 'star' })
    } finally {
      await engine.run('detach old')
    }
  })
}

async function fillFile(rebuild: Rebuild, engine: Engine, oldFile: string): Promise<Rebuilt> {
  await migrate(engine, instant(rebuild))
  const result = await replay(engine, landedPages(rebuild), rebuild.onProgress)
  requireSomething(rebuild, result)
  const missing = isMade(rebuild.connection) ? await carryOver(engine, oldFile) : []
  await engine.transaction(tombstoneAgain)
  await recordRun(rebuild, engine, result)
  requireNothingMissing(rebuild, missing, result)
  return { result, missing }
}

/** A file that is lost is made of its pages; what only its ledger knew, such as watermarks, is lost. */
export async function rebuildFile(rebuild: Rebuild, file: string): Promise<Rebuilt> {
  if (isMade(rebuild.connection)) await prepareOld(rebuild)
  const draft = temporaryPlace(`${file}.replay`, 'the warehouse that a replay makes')
  try {
    const engine = await openDuckdb(draft.path)
    let rebuilt: Rebuilt
    try {
      rebuilt = await fillFile(rebuild, engine, file)
    } finally {
      await engine.close()
    }
    replaceDatabase(draft.path, file)
    return rebuilt
  } finally {
    draft.remove()
  }
}
