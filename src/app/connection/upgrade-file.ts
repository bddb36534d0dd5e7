/**
 * Brings a DuckDB file of an earlier version to the structure of this one: in a copy, which takes its place in one rename.
 * Whoever kills it, at whatever moment, finds the old file whole or the new one.
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { systemClock } from '../../lib/clock.ts'
import { migrate } from '../../state/migrate.ts'
import { isBehind } from '../../state/recorded-structure.ts'
import { requireFree } from '../../temporary/free-space.ts'
import type { FileKey } from '../../warehouse/duckdb/encrypted-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, rewriteFile } from '../../warehouse/on-demand.ts'
import { fileKey } from './file-key.ts'
import { reserveOf } from './room.ts'

/** Closes the engine of a file that has to be upgraded, and of one that this program refuses. */
export async function isFileBehind(engine: Engine): Promise<boolean> {
  let behind = true
  try {
    behind = await isBehind(engine)
    return behind
  } finally {
    if (behind) await engine.close()
  }
}

async function migrateCopy(copy: string, key: FileKey | undefined): Promise<void> {
  const engine = await openDuckdb(copy, { key, isDraft: true })
  try {
    await migrate(engine, new Date(systemClock.now()).toISOString())
  } finally {
    await engine.close()
  }
}

export async function upgradeFile(file: string, connection: StoredConnection): Promise<void> {
  requireFree(dirname(file), statSync(file).size + reserveOf(connection))
  const key = fileKey(connection)
  await rewriteFile(file, {
    contents: 'a warehouse on its way to the structure of this version',
    change: copy => migrateCopy(copy, key),
    key,
  })
}
