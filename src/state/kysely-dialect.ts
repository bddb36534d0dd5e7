/** Kysely over the one connection of an engine: PostgreSQL's grammar, the engine's own rows. */
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
import type { Value } from '../warehouse/engine.ts'

type Query = <Row extends object>(sql: string, values: readonly Value[]) => Promise<Row[]>

class OneConnectionDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(query: Query) {
    this.#connection = {
      async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
        const rows = await query(compiled.sql, compiled.parameters as Value[])
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
  // Transactions belong to the engine, so that ledger rows commit together with the records they speak of.
  async beginTransaction(): Promise<void> {
    throw new Error('begin transactions with engine.transaction')
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

export function kyselyOver<Schema>(query: Query): Kysely<Schema> {
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new OneConnectionDriver(query),
    createIntrospector: db => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return new Kysely<Schema>({ dialect })
}
