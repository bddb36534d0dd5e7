/** Statements on one connection of DuckDB, each in its turn, with failures explained in one line. */
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Value } from '../engine.ts'
import { ConnectionTurns, type Turns } from '../turns.ts'
import { interruptible } from '../under-way.ts'
import { statementError } from './failure.ts'
import { plainRow } from './plain-row.ts'

/** Without values a statement runs directly: a prepared one is planned twice, once on this thread. */
const bound = (values: readonly Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : [...values]

/** Runs statements when their turn comes. */
export interface Statements {
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  run(sql: string, values?: readonly Value[]): Promise<number>
}

/** One connection of DuckDB and its turns. */
export class Connection {
  readonly duckdb: DuckDBConnection
  readonly turns: ConnectionTurns
  readonly #file: string

  /** `file` is for messages. */
  constructor(file: string, duckdb: DuckDBConnection) {
    const control = (sql: string) => () => this.#explained(() => duckdb.run(sql))
    this.duckdb = duckdb
    this.#file = file
    this.turns = new ConnectionTurns({
      begin: control('begin transaction'),
      commit: control('commit'),
      rollback: control('rollback'),
    })
  }

  async #explained<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await interruptible(() => this.duckdb.interrupt(), work)
    } catch (error) {
      throw statementError(this.#file, error)
    }
  }

  statementsOn(turns: Turns): Statements {
    const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
      turns.statement(() => this.#explained(work))
    return {
      rows: <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
        inTurn(async () => {
          const reader = await this.duckdb.runAndReadAll(sql, bound(values))
          return reader.getRowObjects().map(row => plainRow(row) as Row)
        }),
      run: (sql, values = []) => inTurn(async () => (await this.duckdb.run(sql, bound(values))).rowsChanged),
    }
  }
}
