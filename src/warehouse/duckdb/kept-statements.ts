/** Prepared statements of one connection, kept for the next time: the ledger asks the same of every resource. */
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import type { Value } from '../engine.ts'

/** A sync has some 150 different statements with values. The plans of more would only take memory. */
const mostKept = 200

/**
 * DuckDB plans a kept statement anew where a table that it reads has another shape, but not where its names lead to another
 * database by now, and to run one of a database that was detached ends the process. So these statements drop all that is kept.
 */
const changesNames = /(?:^|;)\s*(?:attach|detach|use|set|reset|pragma|load)\b/i

/** The kept statements of every connection of an instance: a database is attached and detached for all of them. */
export type KeptOfInstance = Set<KeptStatements>

export class KeptStatements {
  readonly #duckdb: DuckDBConnection
  readonly #instance: KeptOfInstance
  /** By their SQL, those used last at the end. One that runs is not in it. */
  readonly #kept = new Map<string, DuckDBPreparedStatement>()
  #dropped = 0

  constructor(duckdb: DuckDBConnection, instance: KeptOfInstance) {
    this.#duckdb = duckdb
    this.#instance = instance
    instance.add(this)
  }

  /** Before `sql` runs: its plans may hold what a detached database frees. */
  heed(sql: string): void {
    if (changesNames.test(sql)) this.dropAll()
  }

  /** Those of every connection. */
  dropAll(): void {
    for (const one of this.#instance) one.drop()
  }

  /** `work` gets the statement with its values. */
  async use<Result>(
    sql: string,
    values: readonly Value[],
    work: (statement: DuckDBPreparedStatement) => Promise<Result>,
  ): Promise<Result> {
    const before = this.#dropped
    const kept = this.#take(sql) ?? (await this.#duckdb.prepare(sql))
    let isGood = false
    try {
      kept.bind([...values])
      const result = await work(kept)
      isGood = before === this.#dropped
      return result
    } finally {
      if (isGood) this.#keep(sql, kept)
      else kept.destroySync()
    }
  }

  #take(sql: string): DuckDBPreparedStatement | undefined {
    const statement = this.#kept.get(sql)
    this.#kept.delete(sql)
    return statement
  }

  #keep(sql: string, statement: DuckDBPreparedStatement): void {
    this.#kept.get(sql)?.destroySync()
    this.#kept.set(sql, statement)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > mostKept && oldest !== undefined) this.#take(oldest)?.destroySync()
  }

  /** One that runs meanwhile is not kept afterwards. */
  drop(): void {
    this.#dropped += 1
    for (const statement of this.#kept.values()) statement.destroySync()
    this.#kept.clear()
  }

  /** Before the connection is closed, which a statement may not outlive. */
  close(): void {
    this.#instance.delete(this)
    this.drop()
  }
}
