/** Prepared statements of one connection, kept for the next time: the ledger asks the same of every resource. */
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import type { Value } from '../engine.ts'

/** A sync has some 150 different statements with values. The plans of more would only take memory. */
const mostKept = 200

export class KeptStatements {
  readonly #duckdb: DuckDBConnection
  /** By their SQL, those used last at the end. One that runs is not in it. */
  readonly #kept = new Map<string, DuckDBPreparedStatement>()

  constructor(duckdb: DuckDBConnection) {
    this.#duckdb = duckdb
  }

  /** `work` gets the statement with its values. DuckDB plans it anew where a table that it reads has changed its shape. */
  async use<Result>(
    sql: string,
    values: readonly Value[],
    work: (statement: DuckDBPreparedStatement) => Promise<Result>,
  ): Promise<Result> {
    const statement = this.#kept.get(sql) ?? (await this.#duckdb.prepare(sql))
    this.#kept.delete(sql)
    let isGood = false
    try {
      statement.bind([...values])
      const result = await work(statement)
      isGood = true
      return result
    } finally {
      if (isGood) this.#keep(sql, statement)
      else statement.destroySync()
    }
  }

  #keep(sql: string, statement: DuckDBPreparedStatement): void {
    this.#kept.get(sql)?.destroySync()
    this.#kept.set(sql, statement)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size <= mostKept || oldest === undefined) return
    this.#kept.get(oldest)?.destroySync()
    this.#kept.delete(oldest)
  }

  /** Before the connection is closed, which a statement may not outlive. */
  close(): void {
    for (const statement of this.#kept.values()) statement.destroySync()
    this.#kept.clear()
  }
}
