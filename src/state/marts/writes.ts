/** Counts the writes of each resource and dimension: a mart is rebuilt only when a count that it reads changes. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { WriteCountRow } from './tables.ts'

/** Counts writes that may touch any table. */
export const everyTable = 'every table'

/** A touch writes bookkeeping columns only; the content is the same. */
export type WriteKind = 'changes' | 'touches'

/**
 * Runs in the merge that writes the rows, so that both become visible together. Merges take turns, so none waits for a count
 * row that another has locked.
 */
export async function countWrites(engine: Engine, writes: ReadonlyMap<string, WriteKind>): Promise<void> {
  if (writes.size === 0) return
  const rows = [...writes].map(
    ([name, kind]) => `(${quoteText(name)}, ${kind === 'changes' ? '1, 0' : '0, 1'})`,
  )
  await engine.run(
    `insert into ops.write_count (name, changes, touches) values ${rows.join(', ')}
     on conflict (name) do update set changes = write_count.changes + excluded.changes,
       touches = write_count.touches + excluded.touches`,
  )
}

export const countChange = (engine: Engine, name: string): Promise<void> =>
  countWrites(engine, new Map([[name, 'changes']]))

export type WriteCounts = ReadonlyMap<string, WriteCountRow>

export async function writeCounts(engine: Engine): Promise<WriteCounts> {
  const rows = await ledger(engine).selectFrom('ops.write_count').selectAll().execute()
  return new Map(rows.map(row => [row.name, row]))
}
