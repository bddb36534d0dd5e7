/** Values that the contract's lists do not name. */
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import type { StageTable } from './plan.ts'

/** Columns path and value: values outside the lists that the contract gives; undefined when no column has a list. */
export function unknownValues(tables: readonly StageTable[]): string | undefined {
  const selects = tables.flatMap(({ name, table }) =>
    Object.entries(table.columns).flatMap(([column, { values }]) =>
      values
        ? [
            `select ${quoteText(`${table.name}.${column}`)} as path, ${quoteName(column)} as value from ${name}
             where ${quoteName(column)} not in (${values.map(quoteText).join(', ')})`,
          ]
        : [],
    ),
  )
  if (selects.length === 0) return undefined
  return `select distinct path, substr(value, 1, 80) as value from (${selects.join(' union all ')}) limit 20`
}
