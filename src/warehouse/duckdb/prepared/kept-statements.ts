/** Prepared statements of one connection, kept for the next time: the ledger asks the same of every resource. */
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBTypeId } from '@duckdb/node-api'
import type { Value } from '../../engine.ts'
import { bindValues, parameterTypes } from './bound-values.ts'

/** A sync has some 150 different statements with values. The plans of more would only take memory. */
const mostKept = 200

/**
 * DuckDB plans a kept statement anew where a table that it reads has another shape, but not where its names lead to another
 * database by now, and to run one of a database that was detached ends the process. So these statements drop all that is kept.
 */
const changesNames = /(?:^|;)\s*(?:attach|detach|use|set|reset|pragma|load)\b/i

/** The kept statements of every connection of an instance: a database is attached and detached for all of them. */
export type KeptOfInstance = Set<KeptStatements>

interface Prepared {
  readonly statement: DuckDBPreparedStatement
  readonly types: readonly DuckDBTypeId[]
}

export class KeptStatements {
  readonly #duckdb: DuckDBConnection
  readonly #instance: KeptOfInstance
  /** By their SQL, those used last at the end. One that runs is not in it. */
  readonly #kept = new Map<string, Prepared>()
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
    const prepared = this.#take(sql) ?? (await this.#prepare(sql))
    const { statement, types } = prepared
    let isGood = false
    try {
      bindValues(statement, values, types)
      const result = await work(statement)
      isGood = before === this.#dropped
      return result
    } finally {
      if (isGood) this.#keep(sql, prepared)
      else statement.destroySync()
    }
  }

  async #prepare(sql: string): Promise<Prepared> {
    const statement = await this.#duckdb.prepare(sql)
    return { statement, types: parameterTypes(statement) }
  }

  #take(sql: string): Prepared | undefined {
    const prepared = this.#kept.get(sql)
    this.#kept.delete(sql)
    return prepared
  }

  #keep(sql: string, prepared: Prepared): void {
    this.#kept.get(sql)?.statement.destroySync()
    this.#kept.set(sql, prepared)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > mostKept && oldest !== undefined) this.#take(oldest)?.statement.destroySync()
  }

  /** One that runs meanwhile is not kept afterwards. */
  drop(): void {
    this.#dropped += 1
    for (const { statement } of this.#kept.values()) statement.destroySync()
    this.#kept.clear()
  }

  /** Before the connection is closed, which a statement may not outlive. */
  close(): void {
    this.#instance.delete(this)
    this.drop()
  }
}
