/** Kysely over an engine: typed statements on the tables of ops, run as rows of the engine's own connection. */
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
import type { Engine, Value } from '../warehouse/engine.ts'
import type { Ledger } from './tables.ts'

type RowsOf = Pick<Engine, 'rows'>

class EngineDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(engine: RowsOf) {
    this.#connection = {
      async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
        const rows = await engine.rows(compiled.sql, compiled.parameters as Value[])
        return { rows: rows as Row[] }
      },
      streamQuery() {
        throw new Error('the ledger is read whole, never streamed')
      },
    }
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }
  // Transactions belong to the engine, so that ledger rows commit together with the records they describe.
  async beginTransaction(): Promise<void> {
    throw new Error('begin transactions with engine.transaction')
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

/** A null is part of the text: DuckDB plans a statement anew each time that one is bound. */
class LedgerCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value === null) this.append('null')
    else super.appendValue(value)
  }
}

/** Both engines read PostgreSQL's grammar. */
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
