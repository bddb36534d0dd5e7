/** The DDL of the ledger's tables, the same on both engines, from their declarations. */
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../warehouse/sql-text.ts'
import type { LedgerColumn } from './declaration.ts'
import type { NamedTable } from './tables.ts'

const bareColumn = (name: string, { sql }: LedgerColumn): string => `${quoteName(name)} ${sql}`

export function createLedgerTable(table: NamedTable): string {
  const columns = Object.entries(table.columns).map(
    ([name, column]) => `${bareColumn(name, column)}${column.isOptional ? '' : ' not null'}`,
  )
  const key = table.key.length > 0 ? [`primary key (${quoteNames(table.key)})`] : []
  return `create table if not exists ${qualified(table)} (${[...columns, ...key].join(', ')})`
}

/** Without `not null`, which DuckDB cannot add: a column that comes later is declared optional. */
export const addLedgerColumn = (table: NamedTable, name: string, column: LedgerColumn): string =>
  `alter table ${qualified(table)} add column ${bareColumn(name, column)}`

/** For PostgreSQL. */
export const createLedgerIndexes = (table: NamedTable): string[] =>
  table.indexes.map(
    ({ name, columns, isUnique, where }) =>
      `create ${isUnique ? 'unique ' : ''}index if not exists ${quoteName(name)}
       on ${qualified(table)} (${quoteNames(columns)})${where ? ` where ${where}` : ''}`,
  )
