/** Statements that always give one row, such as counts. */
import type { Engine, Value } from '../warehouse/engine.ts'

export async function onlyRow<Row extends object>(
  engine: Engine,
  sql: string,
  values: readonly Value[] = [],
): Promise<Row> {
  const [row] = await engine.rows<Row>(sql, values)
  return row as Row
}

/** The number that a statement selects as `n`; null counts as 0. */
export async function numberOf(engine: Engine, sql: string, values: readonly Value[] = []): Promise<number> {
  return Number((await onlyRow<{ n: number | null }>(engine, sql, values)).n)
}
