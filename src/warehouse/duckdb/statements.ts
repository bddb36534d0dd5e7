/** Statements on one connection of DuckDB, each in its turn, with failures explained in one line. */
import type { DuckDBConnection, DuckDBMaterializedResult, DuckDBValue } from '@duckdb/node-api'
import { OutOfMemory } from '../../lib/errors.ts'
import type { Value } from '../engine.ts'
import { ConnectionTurns, type Turns } from '../turns.ts'
import { interruptible } from '../under-way.ts'
import { statementError } from './failure.ts'
import { plainRow } from './plain-row.ts'
import { type KeptOfInstance, KeptStatements } from './prepared/kept-statements.ts'

/** The rows are in memory: a reader would ask another thread for each part of them, and once more for the end. */
function rowsOf(result: DuckDBMaterializedResult): Record<string, DuckDBValue>[] {
  const names = result.deduplicatedColumnNames()
  return Array.from({ length: result.chunkCount }, (_, index) => result.getChunk(index)).flatMap(chunk =>
    chunk.getRowObjects(names),
  )
}

/** Runs statements when their turn comes. */
export interface Statements {
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  run(sql: string, values?: readonly Value[]): Promise<number>
}

/** What all connections of an instance share. */
export interface SharedByConnections {
  readonly kept: KeptOfInstance
  /** Why the file is out of reach: every further statement fails with it. */
  lost?: unknown
  /** Whether a statement has run out of memory since the file was attached. */
  ranOut?: boolean
}

/** One connection of DuckDB and its turns. */
export class Connection {
  readonly duckdb: DuckDBConnection
  readonly turns: ConnectionTurns
  readonly #file: string
  readonly #kept: KeptStatements
  readonly #shared: SharedByConnections

  /** `file` is for messages. */
  constructor(file: string, duckdb: DuckDBConnection, shared: SharedByConnections) {
    const control = (sql: string) => () => this.#explained(() => duckdb.run(sql))
    this.duckdb = duckdb
    this.#file = file
    this.#shared = shared
    this.#kept = new KeptStatements(duckdb, shared.kept)
    this.turns = new ConnectionTurns({
      begin: control('begin transaction'),
      commit: control('commit'),
      rollback: control('rollback'),
    })
  }

  /** Plans of all connections, which hold on to what they read. */
  forgetPlans(): void {
    this.#kept.dropAll()
  }

  async #explained<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#shared.lost) throw this.#shared.lost
    try {
      return await interruptible(() => this.duckdb.interrupt(), work)
    } catch (error) {
      const told = statementError(this.#file, error)
      if (told instanceof OutOfMemory) this.#shared.ranOut = true
      throw told
    }
  }

  /** Without values a statement runs directly: each is another, and prepared it would be planned twice. */
  async #run(sql: string, values: readonly Value[]): Promise<DuckDBMaterializedResult> {
    this.#kept.heed(sql)
    if (values.length === 0) return this.duckdb.run(sql)
    return this.#kept.use(sql, values, statement => statement.run())
  }

  /** Changes settings, outside the turns of its statements. */
  async set(settings: string): Promise<void> {
    await this.#explained(() => this.duckdb.run(settings))
  }

  close(): void {
    this.#kept.close()
    this.duckdb.closeSync()
  }

  statementsOn(turns: Turns): Statements {
    const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
      turns.statement(() => this.#explained(work))
    return {
      rows: <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
        inTurn(async () => rowsOf(await this.#run(sql, values)).map(row => plainRow(row) as Row)),
      run: (sql, values = []) => inTurn(async () => (await this.#run(sql, values)).rowsChanged),
    }
  }
}
