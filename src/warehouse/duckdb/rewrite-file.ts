/**
 * Writes a DuckDB file anew: what was deleted or overwritten stays in its free blocks until then. A checkpoint writes the columns
 * of changed rows to free blocks and frees those where they were, so that a file grows though its rows do not. And a change of many
 * statements that has to be all or nothing is made to the copy: DuckDB 1.5 cannot read a log in which one transaction updates
 * a table and then renames it, so that a kill before the next checkpoint would lose the file.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeScratch } from '../../temporary/scratch.ts'
import type { Engine } from '../engine.ts'
import { attachAs, create } from './connect.ts'
import { realFile, replaceDatabase } from './database-file.ts'
import { openError } from './failure.ts'

/** Below it, writing a file anew costs more than it gives back. */
const smallestBytes = 16_000_000

/** A file with more of its blocks free is over 1.3 times as long as one written anew, with what is packed less closely. */
const mostFree = 0.2

/** Of these 5 MB come back at once: each checkpoint writes the catalogue, with the statistics of 9,000 columns, beside the last one. */
const leastFreeBytes = 8_000_000

/** Bytes. */
interface Blocks {
  readonly size: number
  readonly free: number
}

/**
 * Whether the file has so much to give back that it is to be written anew. One that never was is: a load packs rows quickly and
 * leaves row groups half full. False where the warehouse is no file.
 */
export async function hasSlack(engine: Engine, wasWrittenAnew: boolean): Promise<boolean> {
  if (engine.kind !== 'duckdb') return false
  const [blocks] = await engine.rows<Blocks>(
    `select (block_size * total_blocks)::double as size, (block_size * free_blocks)::double as free
     from pragma_database_size() where database_name = 'warehouse'`,
  )
  if (!blocks || blocks.size < smallestBytes) return false
  return !wasWrittenAnew || blocks.free > Math.max(leastFreeBytes, mostFree * blocks.size)
}

/** The file must be closed here. It is locked until the new one is in its place, so that nobody writes to the old one. */
export async function rewriteFile(name: string): Promise<void> {
  const file = realFile(name)
  const { mode } = statSync(file)
  const scratch = makeScratch(dirname(file))
  const draft = join(scratch.path, basename(file))
  try {
    const { connection, instance, temporary } = await create(dirname(file))
    try {
      await attachAs(connection, { file, name: 'warehouse', readOnly: false })
      await attachAs(connection, { file: draft, name: 'rewritten', readOnly: false })
      await connection.run('copy from database warehouse to rewritten')
      await connection.run('checkpoint rewritten')
      await connection.run('detach rewritten')
      replaceDatabase(draft, file, mode)
    } finally {
      connection.closeSync()
      instance.closeSync()
      temporary.remove()
    }
  } catch (error) {
    throw openError(file, error)
  } finally {
    scratch.remove()
  }
}
