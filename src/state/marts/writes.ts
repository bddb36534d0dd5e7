/** How often the rows of each resource and dimension were written: a mart is kept while the counts of all that it reads stay. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { WriteCountRow } from './tables.ts'

/** Under this name counts what may write rows of any table. */
export const everyTable = 'every table'

/** A touch writes other bookkeeping with the same content. */
export type WriteKind = 'changes' | 'touches'

/**
 * In the merge that writes the rows, so that both are seen together. Merges take turns: none waits for a row that another has
 * counted in.
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
