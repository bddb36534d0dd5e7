/** Creating a table of the stage. */
import type { Engine } from '../../warehouse/engine.ts'

/** Runs a `create table as` and returns the number of its rows. */
export async function create(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.rows<{ Count: number }>(sql)
  return Number(row?.Count)
}
