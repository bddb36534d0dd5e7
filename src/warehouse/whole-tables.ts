/** Statements that read whole tables through many steps, without what PostgreSQL does wrong with them. */
import type { Engine } from './engine.ts'

/** What it takes to read so. */
export type WholeReader = Pick<Engine, 'name' | 'rows' | 'run' | 'transaction'>

/**
 * Where the server takes a step of a statement to give one row, as it often does behind several others, it would go
 * through the next table once a row: one mart over 1,000 timesheets took 41 s so. Servers before 18 count a join that has
 * no other way as very dear then, which alone would make them compile the statement.
 */
const settings = 'set local enable_nestloop = off; set local jit = off'

/** For the rest of the transaction that the engine is in. */
export async function planForWholeTables(engine: Pick<Engine, 'name' | 'run'>): Promise<void> {
  if (engine.name === 'postgres') await engine.run(settings)
}

/** Rows of one statement, in a transaction of its own where the engine needs one; not inside another. */
export function rowsOfWholeTables<Row extends object>(engine: WholeReader, sql: string): Promise<Row[]> {
  if (engine.name !== 'postgres') return engine.rows<Row>(sql)
  return engine.transaction(async engine => {
    await planForWholeTables(engine)
    return engine.rows<Row>(sql)
  })
}
