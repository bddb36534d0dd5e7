/** Runs statements on one DuckDB connection, each in its turn, and explains failures in one line. */
import type { DuckDBConnection, DuckDBMaterializedResult, DuckDBValue } from '@duckdb/node-api'
import { OutOfMemory } from '../../lib/errors.ts'
import type { SqlValue } from '../engine.ts'
import { ConnectionTurns, interruptible, type Turns } from '../turns.ts'
import { statementError } from './failure.ts'
import { plainRow } from './plain-row.ts'
import { type InstanceStatements, StatementCache } from './statement-cache.ts'

/** Reads the rows directly, as they are in memory: a reader would ask another thread for each chunk, and for the end. */
function rowsOf(result: DuckDBMaterializedResult): Record<string, DuckDBValue>[] {
  const names = result.deduplicatedColumnNames()
  return Array.from({ length: result.chunkCount }, (_, index) => result.getChunk(index)).flatMap(chunk =>
    chunk.getRowObjects(names),
  )
}

/** Runs statements when their turn comes. */
export interface DuckdbStatements {
  rows<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  run(sql: string, values?: readonly SqlValue[]): Promise<number>
}

/** State shared by all connections of an instance. */
export interface InstanceState {
  readonly statements: InstanceStatements
  /** Why the file is out of reach; every further statement fails with this error. */
  lost?: unknown
  /** Whether a statement has run out of memory since the file was attached. */
  ranOut?: boolean
}

/** One connection of DuckDB and its turns. */
export class DuckdbSession {
  readonly duckdb: DuckDBConnection
  readonly turns: ConnectionTurns
  readonly #file: string
  readonly #cached: StatementCache
  readonly #shared: InstanceState

  /** `file` is for messages. */
  constructor(file: string, duckdb: DuckDBConnection, shared: InstanceState) {
    const control = (sql: string) => () => this.#explained(() => duckdb.run(sql))
    this.duckdb = duckdb
    this.#file = file
    this.#shared = shared
    this.#cached = new StatementCache(duckdb, shared.statements)
    this.turns = new ConnectionTurns({
      begin: control('begin transaction'),
      commit: control('commit'),
      rollback: control('rollback'),
    })
  }

  /** Drops the plans of all connections, which hold references to what they read. */
  forgetPlans(): void {
    this.#cached.dropAll()
  }

  async #explained<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#shared.lost) throw this.#shared.lost
    try {
      return await interruptible(() => this.duckdb.interrupt(), work)
    } catch (error) {
      const reported = statementError(this.#file, error)
      if (reported instanceof OutOfMemory) this.#shared.ranOut = true
      throw reported
    }
  }

  /** Runs a statement without values directly: its text is rarely repeated, and preparing would plan it twice. */
  async #run(sql: string, values: readonly SqlValue[]): Promise<DuckDBMaterializedResult> {
    this.#cached.heed(sql)
    if (values.length === 0) return this.duckdb.run(sql)
    return this.#cached.use(sql, values, statement => statement.run())
  }

  /** Changes settings, outside the turns of its statements. */
  async set(settings: string): Promise<void> {
    await this.#explained(() => this.duckdb.run(settings))
  }

  close(): void {
    this.#cached.close()
    this.duckdb.closeSync()
  }

  statementsOn(turns: Turns): DuckdbStatements {
    const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
      turns.statement(() => this.#explained(work))
    return {
      rows: <Row extends object>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
        inTurn(async () => rowsOf(await this.#run(sql, values)).map(row => plainRow(row) as Row)),
      run: (sql, values = []) => inTurn(async () => (await this.#run(sql, values)).rowsChanged),
    }
  }
}
