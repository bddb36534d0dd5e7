/** Databases in which pages are staged: one in memory for the main connection, and a file for each pooled one. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteText } from '../sql-text.ts'
import { openError } from './failure.ts'

/**
 * In memory a column takes a block of 256 KiB for its 2,049th row: 32 MB for 4,200 rows of 110 columns, which are 6 MB. Only
 * a file can have blocks of another size.
 */
const stageBlockBytes = 32_768

/**
 * An unlinked file in which a pooled connection stages batches: nothing is left of it, however the process ends. It keeps no
 * log and is not checkpointed while batches are staged, so rows reach it only where a batch has more than 122,880 of one table.
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

/** Some systems do not remove an open file. */
function forget(remove: () => void): void {
  try {
    remove()
  } catch {
    // Its rows are dropped with the batch, and the file is for its owner only.
  }
}

/** In memory, for the main connection. */
export async function attachMemory(connection: DuckDBConnection, name: string): Promise<void> {
  await connection.run(`attach ':memory:' as ${name}`)
}
