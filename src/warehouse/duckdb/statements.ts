/** Statements on one connection of DuckDB, each in its turn, with failures explained in one line. */
import type { DuckDBConnection } from '@duckdb/node-api'
import { DiskFull, MusterError, OutOfMemory } from '../../lib/errors.ts'
import type { Value } from '../engine.ts'
import { ConnectionTurns, type Turns } from '../turns.ts'
import { plainRow } from './plain-row.ts'

/** Without values a statement runs directly: a prepared one is planned twice, once on this thread. */
const bound = (values: readonly Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : [...values]

function statementError(file: string, cause: unknown): unknown {
  const says = (pattern: RegExp): boolean => cause instanceof Error && pattern.test(cause.message)
  if (says(/no space left on device|disk quota exceeded/i))
    return new DiskFull({
      what: 'the disk is full',
      where: file,
      next: 'free some space and run the command again; what was committed is kept',
      cause,
    })
  if (says(/^out of memory error/i))
    return new OutOfMemory({
      what: 'the rows of one statement do not fit into the memory that DuckDB may use',
      where: file,
      next: 'nothing of them was written; run again with --verbose to see how much it was',
      cause,
    })
  // The log and the temporary folder lie beside the warehouse file and have rights of their own.
  if (says(/: permission denied|read-only file system/i) && String(cause).includes(file))
    return new MusterError({
      what: 'nothing can be written beside the warehouse file',
      where: file,
      next: 'check who may write in its folder',
      cause,
    })
  return cause
}

/** Removes rows from lasting tables: their space is reclaimed when the file is closed. */
const removal = /^delete from (star|pii|mart)\./

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
  #removed = 0

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

  /** Whether rows of the warehouse were removed. */
  get hasRemoved(): boolean {
    return this.#removed > 0
  }

  async #explained<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
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
      run: (sql, values = []) =>
        inTurn(async () => {
          const { rowsChanged } = await this.duckdb.run(sql, bound(values))
          if (removal.test(sql)) this.#removed += rowsChanged
          return rowsChanged
        }),
    }
  }
}
