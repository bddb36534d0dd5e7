/**
 * What a DuckDB file could give back. A checkpoint writes the columns of changed rows to free blocks and frees those where they
 * were, so that a file grows though its rows do not; blocks in the middle of it stay.
 */
import type { Engine } from '../engine.ts'

/** Below it, writing a file anew costs more than it gives back. */
const smallestBytes = 32_000_000

/** A file with more of its blocks free is over 1.3 times as long as one written anew, with what is packed less closely. */
const mostFree = 0.2

/** Of these 10 MB come back at once: each checkpoint writes the catalogue, with the statistics of 9,000 columns, beside the last one. */
const leastFreeBytes = 16_000_000

/** Bytes. */
interface Blocks {
  readonly size: number
  readonly free: number
}

/**
 * Whether the file is to be written anew. One that never was is: a load packs rows quickly and leaves row groups half full. False
 * where the warehouse is no file.
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
