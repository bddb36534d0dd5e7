/** Runs typed Kysely statements on the ops tables over an engine's own connection; splits rows into chunks. */

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type { Engine, SqlValue } from '../warehouse/engine.ts'
import type { Ledger } from './tables.ts'

type RowsOf = Pick<Engine, 'rows'>

class EngineDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(engine: RowsOf) {
    this.#connection = {
      async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
        const rows = await engine.rows(compiled.sql, compiled.parameters as SqlValue[])
        return { rows: rows as Row[] }
      },
      streamQuery() {
        throw new Error('the ledger does not stream rows; read all of them')
      },
    }
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }
  // The engine owns transactions, so that ledger rows commit together with the records they describe.
  async beginTransaction(): Promise<void> {
    throw new Error('start transactions with engine.transaction')
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

/** Writes null into the text: DuckDB plans a statement again each time a null is bound. */
class LedgerCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value === null) this.append('null')
    else super.appendValue(value)
  }
}

/** Both engines accept PostgreSQL's grammar. */
const dialectOf = (engine: RowsOf): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new EngineDriver(engine),
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => new LedgerCompiler(),
})

const ledgers = new WeakMap<RowsOf, Kysely<Ledger>>()

/** The ledger of a warehouse; its statements run on this engine's connection, inside its transaction if one is open. */
export function ledger(engine: RowsOf): Kysely<Ledger> {
  const known = ledgers.get(engine)
  if (known) return known
  const made = new Kysely<Ledger>({ dialect: dialectOf(engine) })
  ledgers.set(engine, made)
  return made
}

/** PostgreSQL takes 65,535 parameters a statement; every ledger table has fewer than 100 columns. */
const rowsPerStatement = 500

/** Splits rows, in order, into chunks that fit one statement, or of another size. */
export function* chunks<Item>(items: readonly Item[], size = rowsPerStatement): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** For statements that always return one row, such as counts. */
export async function onlyRow<Row extends object>(
  engine: Engine,
  sql: string,
  values: readonly SqlValue[] = [],
): Promise<Row> {
  const [row] = await engine.rows<Row>(sql, values)
  return row as Row
}

/** The number that a statement selects as `n`; null counts as 0. */
export async function numberOf(
  engine: Engine,
  sql: string,
  values: readonly SqlValue[] = [],
): Promise<number> {
  return Number((await onlyRow<{ n: number | null }>(engine, sql, values)).n)
}
