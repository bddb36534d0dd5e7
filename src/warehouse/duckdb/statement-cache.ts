/** Caches the prepared statements of one connection: the ledger runs the same ones for every resource. */
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  DuckDBTimestampTZValue,
  DuckDBTypeId,
} from '@duckdb/node-api'
import type { SqlValue } from '../engine.ts'

/** Call before binding; a parameter whose type cannot be inferred is invalid. */
const parameterTypes = (statement: DuckDBPreparedStatement): readonly DuckDBTypeId[] =>
  Array.from({ length: statement.parameterCount }, (_, index) => statement.parameterTypeId(index + 1))

/** Only for text as written by `toISOString`; DuckDB reads or rejects any other. */
function instantOf(text: string): DuckDBTimestampTZValue | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return undefined
  const at = new Date(text)
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString() === text
  return isReal ? new DuckDBTimestampTZValue(BigInt(at.getTime()) * 1000n) : undefined
}

/**
 * Binds values as the types that a statement takes. DuckDB casts other types, such as a time bound as text, but then plans the
 * statement again on every run. Since 1.5 it does so for every statement that reads a table, but not for an insert of values.
 */
function bindValues(
  statement: DuckDBPreparedStatement,
  values: readonly SqlValue[],
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

/** A sync has some 150 different statements with values; more plans would only take memory. */
const maxCached = 200

/**
 * Statements that empty the cache. DuckDB plans a cached statement again if a table that it reads has changed, but not if its
 * names now refer to another database, and running one of a detached database crashes the process.
 */
const changesNames = /(?:^|;)\s*(?:attach|detach|use|set|reset|pragma|load)\b/i

/** The caches of all connections of an instance: attaching or detaching a database affects all of them. */
export type InstanceStatements = Set<StatementCache>

interface PreparedStatement {
  readonly statement: DuckDBPreparedStatement
  readonly types: readonly DuckDBTypeId[]
}

export class StatementCache {
  readonly #duckdb: DuckDBConnection
  readonly #instance: InstanceStatements
  /** By SQL, the most recently used last. A running statement is not in it. */
  readonly #cached = new Map<string, PreparedStatement>()
  #dropped = 0

  constructor(duckdb: DuckDBConnection, instance: InstanceStatements) {
    this.#duckdb = duckdb
    this.#instance = instance
    instance.add(this)
  }

  /** Call before `sql` runs: cached plans may refer to memory that a detached database frees. */
  heed(sql: string): void {
    if (changesNames.test(sql)) this.dropAll()
  }

  /** Drops the statements of all connections. */
  dropAll(): void {
    for (const one of this.#instance) one.drop()
  }

  /** `work` gets the statement with its values. */
  async use<Result>(
    sql: string,
    values: readonly SqlValue[],
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

  async #prepare(sql: string): Promise<PreparedStatement> {
    const statement = await this.#duckdb.prepare(sql)
    return { statement, types: parameterTypes(statement) }
  }

  #take(sql: string): PreparedStatement | undefined {
    const prepared = this.#cached.get(sql)
    this.#cached.delete(sql)
    return prepared
  }

  #keep(sql: string, prepared: PreparedStatement): void {
    this.#cached.get(sql)?.statement.destroySync()
    this.#cached.set(sql, prepared)
    const [oldest] = this.#cached.keys()
    if (this.#cached.size > maxCached && oldest !== undefined) this.#take(oldest)?.statement.destroySync()
  }

  /** A statement running now is not cached afterwards. */
  drop(): void {
    this.#dropped += 1
    for (const { statement } of this.#cached.values()) statement.destroySync()
    this.#cached.clear()
  }

  /** Call before closing the connection, which statements must not outlive. */
  close(): void {
    this.#instance.delete(this)
    this.drop()
  }
}
