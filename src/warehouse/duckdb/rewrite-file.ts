/**
 * Rewrites a DuckDB file, which removes deleted and overwritten values from its free blocks. A checkpoint writes the columns
 * of changed rows to free blocks and frees the old ones, so a file grows even if its rows do not. A change of many statements
 * that must be all or nothing is made to the copy: DuckDB 1.5 cannot replay a log in which one transaction updates a table
 * and then renames it, so a kill before the next checkpoint would lose the file.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeScratch } from '../../temporary/scratch.ts'
import type { Engine } from '../engine.ts'
import { attachAs, create } from './connect.ts'
import { realFile, replaceDatabase } from './database-file.ts'
import { openError } from './failure.ts'

/** Rewriting a smaller file costs more than it frees. */
const smallestBytes = 16_000_000

/** A file with a larger share of free blocks is over 1.3 times as long as after a rewrite, which also packs rows closer. */
const maxFree = 0.2

/** 5 MB of it come back at once: each checkpoint writes the catalogue again, with the statistics of 9,000 columns. */
const minFreeBytes = 8_000_000

/** Bytes. */
interface Blocks {
  readonly size: number
  readonly free: number
}

/**
 * Whether the file has enough free space to be worth a rewrite. True for a file that was never rewritten: a load leaves row
 * groups half full to be fast. False for a server.
 */
export async function hasSlack(engine: Engine, wasRewritten: boolean): Promise<boolean> {
  if (engine.kind !== 'duckdb') return false
  const [blocks] = await engine.rows<Blocks>(
    `select (block_size * total_blocks)::double as size, (block_size * free_blocks)::double as free
     from pragma_database_size() where database_name = 'warehouse'`,
  )
  if (!blocks || blocks.size < smallestBytes) return false
  return !wasRewritten || blocks.free > Math.max(minFreeBytes, maxFree * blocks.size)
}

/** This process must have closed the file. It stays locked until the new one replaces it, so that the old one is not written. */
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
