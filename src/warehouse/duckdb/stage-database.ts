/** The database in which a connection stages pages. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteText } from '../sql-text.ts'
import { openError } from './open-error.ts'

/**
 * In memory a column takes a block of 256 KiB for its 2,049th row: 32 MB for 4,200 rows of 110 columns, which are 6 MB. Only
 * a file can have blocks of another size.
 */
const blockBytes = 32_768

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
    const file = quoteText(join(own, name))
    await connection.run(
      `attach ${file} as ${name} (block_size ${blockBytes}, recovery_mode 'no_wal_writes')`,
    )
    forget(() => rmSync(own, { recursive: true }))
  } catch (error) {
    throw openError(folder, error)
  }
}

/** Some systems do not remove an open file, and none removes a folder that another process uses. */
function forget(remove: () => void): void {
  try {
    remove()
  } catch {
    // Its rows are dropped with the batch, and the file is for its owner only.
  }
}

/** DuckDB itself removes the folder only if it created it. */
export const forgetFolder = (folder: string): void => forget(() => rmdirSync(folder))

/** In memory, for the main connection. */
export async function attachMemory(connection: DuckDBConnection, name: string): Promise<void> {
  await connection.run(`attach ':memory:' as ${name}`)
}
