/** Statements on one connection of DuckDB, each in its turn, with failures told in a line. */
import type { DuckDBConnection } from '@duckdb/node-api'
import { DiskFull, MusterError, OutOfMemory } from '../../lib/errors.ts'
import type { Value } from '../engine.ts'
import { createTurns, type Turns } from '../turns.ts'
import { plainRow } from './plain-row.ts'

/** Without values a statement is run as it is; prepared first, a large one would be planned twice, once on this thread. */
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
  // The log and the temporary folder are files beside the warehouse, which its own rights say nothing of.
  if (says(/: permission denied|read-only file system/i) && String(cause).includes(file))
    return new MusterError({
      what: 'nothing can be written beside the warehouse file',
      where: file,
      next: 'check who may write in its folder',
      cause,
    })
  return cause
}

/** What takes rows out of tables that stay: the space is taken back when the file is closed. */
const removal = /^delete from (star|pii|mart)\./

export interface Statements extends Omit<Turns, 'statement'> {
  readonly connection: DuckDBConnection
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** Whether rows of the warehouse were removed. */
  hasRemoved(): boolean
}

/** `file` is for messages. */
export function statementsOn(file: string, connection: DuckDBConnection): Statements {
  let removed = 0
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw statementError(file, error)
    }
  }
  const { statement, ...turns } = createTurns({
    begin: () => explained(() => connection.run('begin transaction')),
    commit: () => explained(() => connection.run('commit')),
    rollback: () => explained(() => connection.run('rollback')),
  })
  const told = <Result>(work: () => Promise<Result>): Promise<Result> => statement(() => explained(work))
  const rows = <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
    told(async () => {
      const reader = await connection.runAndReadAll(sql, bound(values))
      return reader.getRowObjects().map(row => plainRow(row) as Row)
    })
  const run = (sql: string, values: readonly Value[] = []): Promise<number> =>
    told(async () => {
      const { rowsChanged } = await connection.run(sql, bound(values))
      if (removal.test(sql)) removed += rowsChanged
      return rowsChanged
    })
  return { ...turns, connection, rows, run, hasRemoved: () => removed > 0 }
}
