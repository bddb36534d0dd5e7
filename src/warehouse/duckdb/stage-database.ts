/** Attaches databases for staging pages: one in memory for the main connection, and a file for each pooled one. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteText } from '../sql-text.ts'
import { openError } from './failure.ts'

/**
 * A column in memory takes a block of 256 KiB from its 2,049th row on: 32 MB for 4,200 rows of 110 columns, which hold 6 MB.
 * Only a file can have another block size.
 */
const stageBlockBytes = 32_768

/**
 * Attaches an unlinked file in which a pooled connection stages batches; it disappears however the process ends. It has no
 * log and no checkpoint while batches are staged, so it gets rows only if a batch has more than 122,880 of one table.
 */
export async function attachStageFile(
  connection: DuckDBConnection,
  name: string,
  folder: string,
): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const own = mkdtempSync(join(folder, 'stage-'))
    await connection.run(
      `attach ${quoteText(join(own, name))} as ${name} (block_size ${stageBlockBytes}, recovery_mode 'no_wal_writes')`,
    )
    forget(() => rmSync(own, { recursive: true }))
  } catch (error) {
    throw openError(folder, error)
  }
}

/** Ignores failures: some systems do not remove an open file. */
function forget(remove: () => void): void {
  try {
    remove()
  } catch {
    // Its rows are dropped with the batch, and only its owner may read the file.
  }
}

/** Attaches a database in memory, for the main connection. */
export async function attachMemory(connection: DuckDBConnection, name: string): Promise<void> {
  await connection.run(`attach ':memory:' as ${name}`)
}
