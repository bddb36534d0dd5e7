/**
 * Binds values as the types that a statement takes. Bound as others, such as a time as its text, they are cast, but DuckDB plans the
 * statement anew each time that it runs. One that reads a table it plans anew in any case, since 1.5; an insert of values it does not.
 */
import { type DuckDBPreparedStatement, DuckDBTimestampTZValue, DuckDBTypeId } from '@duckdb/node-api'
import type { Value } from '../../engine.ts'

/** To be asked before anything is bound; where nothing tells the type of a parameter, it is invalid. */
export const parameterTypes = (statement: DuckDBPreparedStatement): readonly DuckDBTypeId[] =>
  Array.from({ length: statement.parameterCount }, (_, index) => statement.parameterTypeId(index + 1))

/** Only of a text as `toISOString` writes it: any other is DuckDB's to read, or to refuse. */
function instantOf(text: string): DuckDBTimestampTZValue | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return undefined
  const at = new Date(text)
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString() === text
  return isReal ? new DuckDBTimestampTZValue(BigInt(at.getTime()) * 1000n) : undefined
}

export function bindValues(
  statement: DuckDBPreparedStatement,
  values: readonly Value[],
  types: readonly DuckDBTypeId[],
): void {
  for (const [place, value] of values.entries()) {
    const [index, type] = [place + 1, types[place]]
    const instant =
      type === DuckDBTypeId.TIMESTAMP_TZ && typeof value === 'string' ? instantOf(value) : undefined
    if (instant) statement.bindTimestampTZ(index, instant)
    else if (type === DuckDBTypeId.BIGINT && typeof value === 'number' && Number.isSafeInteger(value))
      statement.bindBigInt(index, BigInt(value))
    else if (type === DuckDBTypeId.DOUBLE && typeof value === 'number') statement.bindDouble(index, value)
    else statement.bindValue(index, value)
  }
}
